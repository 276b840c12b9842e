import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.impl.Log4jLogEvent;
import org.apache.logging.log4j.core.layout.PatternLayout;
import org.apache.logging.log4j.core.time.MutableInstant;
import org.apache.logging.log4j.message.SimpleMessage;

/** Prints one event in each of some patterns, as log4j itself does: a file of patterns, the epoch milliseconds, the level, logger, thread and message. */
final class LaidOut {
  public static void main(String[] arguments) throws Exception {
    List<String> patterns = Files.readAllLines(Path.of(arguments[0]));
    MutableInstant instant = new MutableInstant();
    instant.initFromEpochMilli(Long.parseLong(arguments[1]), 0);
    LogEvent event =
        Log4jLogEvent.newBuilder().setInstant(instant).setLevel(Level.valueOf(arguments[2])).setLoggerName(arguments[3]).setThreadName(arguments[4]).setMessage(new SimpleMessage(arguments[5])).build();
    for (String pattern : patterns) {
      System.out.print(PatternLayout.newBuilder().withPattern(pattern).withDisableAnsi(true).build().toSerializable(event));
      System.out.print('\u0001');
    }
  }
}
