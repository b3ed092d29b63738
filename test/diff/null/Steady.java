import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;
import java.util.stream.*;
import java.util.zip.*;

/** A service at steady load, in one process: requests of several kinds on two threads, garbage included. */
public class Steady {
    record Order(int id, String customer, double amount, List<String> items) {}

    static final Pattern FIELD = Pattern.compile("(\\w+)=([^;]*);?");
    static final Map<String, Double> balance = new ConcurrentHashMap<>();

    static Order make(Random r) {
        List<String> items = new ArrayList<>();
        for (int i = 0, n = 1 + r.nextInt(12); i < n; i++)
            items.add("item-" + Integer.toString(r.nextInt(100000), 36));
        return new Order(r.nextInt(), "customer" + r.nextInt(5000), r.nextInt(100000) / 100.0, items);
    }

    static String encode(Order o) {
        return "id=" + o.id + ";customer=" + o.customer + ";amount=" + String.format("%.2f", o.amount)
            + ";items=" + String.join(",", o.items);
    }

    static Order decode(String s) {
        Map<String, String> f = new TreeMap<>();
        Matcher m = FIELD.matcher(s);
        while (m.find())
            f.put(m.group(1), m.group(2));
        return new Order(Integer.parseInt(f.get("id")), f.get("customer"), Double.parseDouble(f.get("amount")),
            List.of(f.get("items").split(",")));
    }

    static byte[] pack(String s) {
        Deflater d = new Deflater();
        d.setInput(s.getBytes(StandardCharsets.UTF_8));
        d.finish();
        byte[] b = new byte[s.length() + 100];
        int n = d.deflate(b);
        d.end();
        return Arrays.copyOf(b, n);
    }

    static String unpack(byte[] b) throws DataFormatException {
        Inflater i = new Inflater();
        i.setInput(b);
        byte[] o = new byte[8192];
        int n = i.inflate(o);
        i.end();
        return new String(o, 0, n, StandardCharsets.UTF_8);
    }

    static long request(Random r) throws DataFormatException {
        List<Order> orders = new ArrayList<>();
        for (int i = 0; i < 30; i++)
            orders.add(decode(unpack(pack(encode(make(r))))));
        for (Order o : orders)
            balance.merge(o.customer, o.amount, Double::sum);
        Map<Integer, Double> by = orders.stream().collect(Collectors.groupingBy(o -> o.items.size(), TreeMap::new,
            Collectors.summingDouble(Order::amount)));
        return by.hashCode() + orders.stream().sorted(Comparator.comparing(Order::customer)
            .thenComparing(Order::amount)).map(Order::customer).distinct().count();
    }

    public static void main(String[] args) throws Exception {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        ExecutorService pool = Executors.newFixedThreadPool(2);
        for (int t = 0; t < 2; t++) {
            int seed = t;
            pool.submit(() -> {
                Random r = new Random(seed);
                long sum = 0;
                while (System.nanoTime() < end)
                    sum += request(r);
                return sum;
            });
        }
        pool.shutdown();
        pool.awaitTermination(1, TimeUnit.DAYS);
    }
}
