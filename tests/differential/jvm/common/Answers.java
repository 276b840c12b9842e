import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** Reads cases from stdin and writes, for each, the state znode that the controller leaves behind, and why it failed. */
final class Answers {
    /** The controller of one Kafka release, over a ZooKeeper that holds one partition in memory. */
    interface Controller {
        /** The state znode afterwards, or null when there is none. Throws what the election throws. */
        String answer(Case question) throws Exception;

        /** The state znode as it is now, or null. */
        String state();
    }

    static void run(Controller controller, PrintStream out) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String failure = "-";
            String state;
            try {
                state = controller.answer(new Case(line));
            } catch (Exception e) {
                failure = e.getClass().getSimpleName();
                state = controller.state();
            }
            out.println((state == null ? "-" : state) + "\t" + failure);
        }
        out.flush();
    }
}
