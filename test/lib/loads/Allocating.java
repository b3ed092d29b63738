import java.io.File;
import java.util.Random;

/*
 * java Allocating GO STOP: waits for the file GO. Then the thread "allocating" makes 600,000 objects in 2 s, a byte[] of 72 bytes or a
 * String of 24 bytes, each with probability 1/2, and 30 long[] of 1 MB. It removes GO. The program ends when the file STOP exists.
 */
public class Allocating {
	static final int ROUNDS = 30, OBJECTS = 20000;
	static volatile Object sink;

	static void bytes()
	{
		sink = new byte[56];
	}

	static void string()
	{
		sink = new String("seed");
	}

	static void large()
	{
		sink = new long[1 << 17];
	}

	static void allocate()
	{
		Random random = new Random(1);

		for (int round = 0; round < ROUNDS; round++) {
			for (int i = 0; i < OBJECTS; i++)
				if (random.nextBoolean())
					bytes();
				else
					string();
			large();
			try {
				Thread.sleep(60);
			} catch (InterruptedException e) {
				return;
			}
		}
	}

	public static void main(String[] args) throws Exception
	{
		File go = new File(args[0]), stop = new File(args[1]);

		while (!go.exists())
			Thread.sleep(20);
		Thread thread = new Thread(new Runnable() {
			public void run()
			{
				allocate();
			}
		}, "allocating");
		thread.start();
		thread.join();
		go.delete();
		while (!stop.exists())
			Thread.sleep(20);
	}
}
