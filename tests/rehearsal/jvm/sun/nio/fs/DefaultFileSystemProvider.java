package sun.nio.fs;

import java.io.IOException;
import java.nio.file.CopyOption;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.Path;

/** Java's own file system, but for renaming what a broker has open, which Windows refuses in these words. */
public final class DefaultFileSystemProvider {
  private static final LinuxFileSystemProvider INSTANCE = new LikeWindows();

  private DefaultFileSystemProvider() {}

  public static LinuxFileSystemProvider instance() {
    return INSTANCE;
  }

  public static FileSystem theFileSystem() {
    return INSTANCE.theFileSystem();
  }

  private static final class LikeWindows extends LinuxFileSystemProvider {
    @Override
    public void move(Path source, Path target, CopyOption... options) throws IOException {
      if (target.toString().endsWith("-delete") || target.toString().endsWith(".deleted")) {
        String why = "The process cannot access the file because it is being used by another process";
        throw new FileSystemException(source.toString(), target.toString(), why);
      }
      super.move(source, target, options);
    }
  }
}
