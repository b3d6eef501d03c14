-- Traces of several shapes: numbers, tables, strings, closures.
local function sum(n)
	local s = 0
	for i = 1, n do s = (s + i * 7) % 1000003 end
	return s
end
local function sieve(n)
	local composite, count = {}, 0
	for i = 2, n do
		if not composite[i] then
			count = count + 1
			for j = i * i, n, i do composite[j] = true end
		end
	end
	return count
end
local function words(n)
	local counts = {}
	for i = 1, n do
		local word = "w" .. (i % 97)
		counts[word] = (counts[word] or 0) + 1
	end
	return counts.w5
end
local result = 0
for round = 1, 20 do result = result + sum(200000) + sieve(20000) + words(5000) end
print(result)
