import java.util.HashMap;
import java.util.Map;

public class Hot {
	static int sum(int n) {
		int s = 0;
		for (int i = 0; i < n; i++)
			s = (s + i * 7) % 1000003;
		return s;
	}

	static double lengths(int n) {
		double total = 0;
		for (int i = 0; i < n; i++)
			total += Math.sqrt((double) i * i + (double) (n - i) * (n - i));
		return total;
	}

	static int words(int n) {
		Map<String, Integer> counts = new HashMap<>();
		for (int i = 0; i < n; i++)
			counts.merge("w" + i % 97, 1, Integer::sum);
		return counts.size();
	}

	public static void main(String[] args) {
		double result = 0;
		for (int round = 0; round < 100; round++)
			result += sum(20000) + lengths(5000) + words(3000);
		System.out.printf("%.3f%n", result);
	}
}
