# What YJIT compiles: methods, blocks, instance variables, hashes.
class Point
  def initialize(x, y)
    @x = x
    @y = y
  end

  def length
    Math.sqrt(@x * @x + @y * @y)
  end
end

def sum(n)
  s = 0
  i = 0
  while i < n
    s = (s + i * 7) % 1000003
    i += 1
  end
  s
end

def lengths(n)
  total = 0.0
  n.times { |i| total += Point.new(i, n - i).length }
  total
end

result = 0.0
20.times { result += sum(20000) + lengths(3000) }
puts result.round(3)
