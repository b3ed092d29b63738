// Rounds N: the same work in one thread for ever, N rounds of Load's; each time its wall and CPU time in us are printed.
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Random;

public class Rounds {
    public static void main(String[] args) throws Exception {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        int rounds = Integer.parseInt(args[0]);
        for (;;) {
            Random random = new Random(42);
            long wall = System.nanoTime(), cpu = threads.getCurrentThreadCpuTime();
            for (int i = 0; i < rounds; i++)
                Load.round(random, false);
            System.out.println((System.nanoTime() - wall) / 1000 + " " + (threads.getCurrentThreadCpuTime() - cpu) / 1000);
            System.out.flush();
        }
    }
}
