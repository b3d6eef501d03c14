// Functions that V8 compiles: numbers, objects, strings, closures.
function sum(n) {
	let s = 0;
	for (let i = 0; i < n; i++)
		s = (s + i * 7) % 1000003;
	return s;
}
class Point {
	constructor(x, y) {
		this.x = x;
		this.y = y;
	}
	length() {
		return Math.sqrt(this.x * this.x + this.y * this.y);
	}
}
function lengths(n) {
	let total = 0;
	for (let i = 0; i < n; i++)
		total += new Point(i, n - i).length();
	return total;
}
function words(n) {
	const counts = new Map();
	for (let i = 0; i < n; i++) {
		const word = 'w' + (i % 97);
		counts.set(word, (counts.get(word) || 0) + 1);
	}
	return counts.size;
}
let result = 0;
for (let round = 0; round < 60; round++)
	result += sum(20000) + lengths(5000) + words(3000);
console.log(result.toFixed(3));
