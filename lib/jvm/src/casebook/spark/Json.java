package casebook.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;

/** The list of paths, as Spark's {@code DataFrameReader.load} hands it to a source. */
public final class Json {
  private Json() {}

  public static List<String> strings(String array) {
    try {
      return List.of(new ObjectMapper().readValue(array, String[].class));
    } catch (JsonProcessingException error) {
      throw new IllegalArgumentException("paths is no list of paths: " + array, error);
    }
  }
}
