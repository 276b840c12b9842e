package casebook.logs;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.ZipException;

/**
 * Reads small logs without Spark, which takes longer to start. The argument is a file with one JSON array a line: a zone, a
 * layout (or null) and a path. Each line of the output is a JSON array: {@code "event"}, {@code "untyped"} or {@code "file"}, the
 * position of the path in the input, and the columns of that row.
 */
public final class Main {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Main() {}

  public static void main(String[] arguments) throws IOException {
    Map<String, LogReader> readers = new HashMap<>();
    try (BufferedReader input = Files.newBufferedReader(Path.of(arguments[0]));
        PrintWriter output = new PrintWriter(new BufferedWriter(new OutputStreamWriter(System.out, UTF_8), 1 << 16))) {
      int file = 0;
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        String[] given = JSON.readValue(line, String[].class);
        LogReader reader = readers.computeIfAbsent(given[0] + given[1], none -> new LogReader(ZoneId.of(given[0]), given[1]));
        read(reader, file++, Path.of(given[2]), output);
      }
    }
  }

  private static void read(LogReader reader, int file, Path path, PrintWriter output) throws IOException {
    Coverage coverage;
    try (reader) {
      reader.begin(Content.whole(path.toString(), Files.newInputStream(path)), 0, Long.MAX_VALUE);
      for (Event event = reader.next(); event != null; event = reader.next()) {
        write(event, file, output);
      }
      coverage = reader.coverage();
      reader.untyped().seen.forEach((key, seen) -> row(output, "untyped", file, key.logger(), key.level(), key.shape(), seen.count, seen.line, seen.text));
    } catch (EOFException | ZipException damaged) {
      coverage = Coverage.none("its compressed data cannot be read: " + damaged.getMessage());
    } catch (AccessDeniedException denied) {
      coverage = Coverage.none("it may not be read: permission denied");
    } catch (IOException failed) {
      coverage = Coverage.none("it cannot be read: " + failed.getMessage());
    }
    row(output, "file", file, time(coverage.first), time(coverage.last), coverage.lines, coverage.entries, coverage.typed, coverage.strange, coverage.damage, coverage.speakers(), coverage.layouts());
  }

  private static void write(Event event, int file, PrintWriter output) {
    Fields fields = event.fields();
    Integer partition = fields.partition < 0 ? null : fields.partition;
    row(output, "event", file, event.kind(), time(event.time()), event.line(), event.level(), event.logger(), fields.topic, partition, fields.group, fields.json(), event.text());
  }

  private static Long time(long time) {
    return time == Header.NO_TIME ? null : time;
  }

  private static void row(PrintWriter output, Object... cells) {
    StringBuilder row = new StringBuilder(256).append('[');
    for (Object cell : cells) {
      if (row.length() > 1) {
        row.append(',');
      }
      if (cell instanceof String text) {
        Fields.quote(row, text);
      } else {
        row.append(cell);
      }
    }
    output.println(row.append(']'));
  }
}
