import org.apache.zookeeper.*; import org.apache.zookeeper.data.Stat;
class dump_znodes {
  public static void main(String[] a) throws Exception { dump(new ZooKeeper(a[0], 30000, event -> {}), a.length > 1 ? a[1] : "/"); System.exit(0); }
  static void dump(ZooKeeper zk, String path) throws Exception {
    Stat s = new Stat(); String head = "{\"path\":\"" + path.replace("\\", "\\\\").replace("\"", "\\\"") + "\",";
    try { byte[] data = zk.getData(path, false, s); String b64 = data == null ? "null" : "\"" + java.util.Base64.getEncoder().encodeToString(data) + "\"";
      System.out.println(head + String.format("\"data_b64\":%s,\"stat\":{\"czxid\":%d,\"mzxid\":%d,\"pzxid\":%d,\"ctime\":%d,\"mtime\":%d,\"version\":%d,\"cversion\":%d,\"aversion\":%d,\"ephemeralOwner\":%d,\"dataLength\":%d,\"numChildren\":%d}}", b64, s.getCzxid(), s.getMzxid(), s.getPzxid(), s.getCtime(), s.getMtime(), s.getVersion(), s.getCversion(), s.getAversion(), s.getEphemeralOwner(), s.getDataLength(), s.getNumChildren()));
      if (!path.matches(".*/(consumers/[^/]+/(ids|owners)|kafka-acl[^/]*|delegation_token)")) for (String child : zk.getChildren(path, false)) dump(zk, path.equals("/") ? "/" + child : path + "/" + child);
    } catch (KeeperException.NoAuthException denied) { System.out.println(head + "\"outcome\":\"denied\"}"); } catch (KeeperException.NoNodeException vanished) { } } }
