using System;
using System.Collections.Generic;

class Hot {
	static int Sum(int n) {
		int s = 0;
		for (int i = 0; i < n; i++)
			s = (s + i * 7) % 1000003;
		return s;
	}

	static double Lengths(int n) {
		double total = 0;
		for (int i = 0; i < n; i++)
			total += Math.Sqrt((double) i * i + (double) (n - i) * (n - i));
		return total;
	}

	static int Words(int n) {
		var counts = new Dictionary<int, int>();
		for (int i = 0; i < n; i++)
			counts[i % 97] = i;
		return counts.Count;
	}

	static void Main() {
		double result = 0;
		for (int round = 0; round < 20; round++)
			result += Sum(20000) + Lengths(5000) + Words(3000);
		Console.WriteLine(Math.Round(result, 3));
	}
}
