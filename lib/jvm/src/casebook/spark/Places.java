package casebook.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The places that a source must read, as given by Spark's {@code DataFrameReader.load}. */
public final class Places {
  private Places() {}

  /**
   * The places in the options.
   *
   * @param needs the error text when there are none
   */
  public static List<String> of(CaseInsensitiveStringMap options, String needs) {
    List<String> places = new ArrayList<>();
    if (options.containsKey("paths")) {
      places.addAll(strings(options.get("paths")));
    }
    if (options.containsKey("path")) {
      places.add(options.get("path"));
    }
    if (places.isEmpty()) {
      throw new IllegalArgumentException(needs);
    }
    return places;
  }

  private static List<String> strings(String array) {
    try {
      return List.of(new ObjectMapper().readValue(array, String[].class));
    } catch (JsonProcessingException error) {
      throw new IllegalArgumentException("paths is no list of paths: " + array, error);
    }
  }

  /** The place itself, or the paths that its pattern matches. */
  public static List<FileStatus> named(Configuration configuration, Path path) throws IOException {
    FileSystem system = path.getFileSystem(configuration);
    try {
      return List.of(system.getFileStatus(path));
    } catch (FileNotFoundException noneOfThisName) {
      FileStatus[] matching = system.globStatus(path);
      if (matching == null || matching.length == 0) {
        throw noneOfThisName;
      }
      return List.of(matching);
    }
  }
}
