import java.util.ArrayList;
import java.util.List;

/** One question to the controller, a line of tab-separated fields; "-" is an empty list or a missing znode. */
final class Case {
    final String operation;
    final List<Object> replicas;
    final List<Object> removing;
    final String state;
    final List<Object> live;
    final List<Object> brokers;
    final boolean unclean;

    Case(String line) {
        String[] fields = line.split("\t");
        operation = fields[0];
        replicas = ids(fields[1]);
        removing = ids(fields[2]);
        state = fields[3].equals("-") ? null : fields[3];
        live = ids(fields[4]);
        brokers = ids(fields[5]);
        unclean = Boolean.parseBoolean(fields[6]);
    }

    String topic() {
        return unclean ? "unclean" : "clean";
    }

    private static List<Object> ids(String field) {
        List<Object> ids = new ArrayList<>();
        if (!field.equals("-")) {
            for (String id : field.split(",")) {
                ids.add(Integer.valueOf(id));
            }
        }
        return ids;
    }
}
