// Many functions of about equal weight: node many.js FUNCTIONS MILLISECONDS
const functions = [];
for (let i = 0; i < Number(process.argv[2] || 4000); i++)
	functions.push(eval(`(function f${i}(a, b) {
		let s${i} = 0;
		for (let j = 0; j < 300; j++) {
			s${i} += (a * j + ${i}) % (b + j + 1);
			if (s${i} > 1e9) s${i} -= ${i};
		}
		return s${i} + ${i};
	})`));
let total = 0;
const end = Date.now() + Number(process.argv[3] || 20000);
while (Date.now() < end)
	for (const f of functions) total += f(3, 7);
console.log(total);
