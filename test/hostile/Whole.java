import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** A load that uses the whole host: more threads than CPUs, each at the end of a deep chain of different methods, lambdas and streams. */
public class Whole {
	static volatile int sink;

	/** Chains of lambdas: their frames are all different methods. */
	static IntUnaryOperator chain(int depth, int seed) {
		IntUnaryOperator next = x -> x * 31 + seed;
		for (int i = 0; i < depth; i++) {
			IntUnaryOperator inner = next;
			int k = i;
			switch ((seed + i) % 4) {
			case 0: next = x -> inner.applyAsInt(x + k) ^ 1; break;
			case 1: next = x -> inner.applyAsInt(x ^ k) + 3; break;
			case 2: next = x -> Math.max(inner.applyAsInt(x - k), k); break;
			default: next = x -> inner.applyAsInt(Integer.rotateLeft(x, k % 7)); break;
			}
		}
		return next;
	}

	static int recurse(int depth, List<IntUnaryOperator> work, int x) {
		if (depth == 0) {
			int sum = x;
			for (int round = 0; round < 50; round++)
				for (IntUnaryOperator one : work)
					sum += one.applyAsInt(sum);
			return sum;
		}
		return recurse(depth - 1, work, x + depth) * 3 + 1;
	}

	public static void main(String[] args) throws Exception {
		int threads = Integer.parseInt(args[0]), seconds = Integer.parseInt(args[1]);
		long end = System.nanoTime() + seconds * 1_000_000_000L;
		List<Thread> all = new ArrayList<>();
		for (int t = 0; t < threads; t++) {
			int id = t;
			Thread thread = new Thread(() -> {
				List<IntUnaryOperator> work = new ArrayList<>();
				for (int i = 0; i < 40; i++)
					work.add(chain(20 + (i * id) % 180, i + id));
				while (System.nanoTime() < end)
					sink += recurse(200 + id * 37 % 600, work, id);
			});
			thread.start();
			all.add(thread);
		}
		for (Thread thread : all)
			thread.join();
	}
}
