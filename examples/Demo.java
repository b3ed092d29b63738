import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** An example of a load in Java to profile: counts words for the given number of seconds. */
public class Demo {
    static String[] words(int n, long seed) {
        String[] words = new String[n];
        for (int i = 0; i < n; i++) {
            seed = seed * 6364136223846793005L + 1442695040888963407L;
            words[i] = Long.toString(Math.abs(seed >> 50), 36);
        }
        return words;
    }

    static Map<String, Integer> count(String[] words) {
        Map<String, Integer> counts = new HashMap<>();
        for (String word : words)
            counts.merge(word, 1, Integer::sum);
        return counts;
    }

    static String top(Map<String, Integer> counts) {
        return counts.entrySet().stream()
            .sorted(Map.Entry.<String, Integer>comparingByValue(Comparator.reverseOrder()))
            .limit(10).map(Map.Entry::getKey).collect(Collectors.joining(" "));
    }

    public static void main(String[] args) {
        long end = System.nanoTime() + (long) (Double.parseDouble(args[0]) * 1e9);
        int length = 0;
        for (long seed = 1; System.nanoTime() < end; seed++)
            length += top(count(words(20000, seed))).length();
        System.err.println("Demo.java: " + length);
    }
}
