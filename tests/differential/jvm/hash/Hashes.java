import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

import org.apache.kafka.common.utils.Utils;

/** Reads (partitions, UTF-16 code units in hex) a line, answers with the partition that Kafka chooses. */
public final class Hashes {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split("\t", 2);
            StringBuilder name = new StringBuilder();
            for (int at = 0; at < fields[1].length(); at += 4) {
                name.append((char) Integer.parseInt(fields[1].substring(at, at + 4), 16));
            }
            System.out.println(Utils.abs(name.toString().hashCode()) % Integer.parseInt(fields[0]));
        }
    }
}
