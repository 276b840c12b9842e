"""How secrets get into text: what people type, programs print and files hold. ``{s}`` is where the secret stands.

Written down from what configuration, shells, logs and tickets look like, not from what the redaction knows.
"""

NAMED = (
    # settings as brokers and clients print them
    "[2026-11-22 10:00:00,001] INFO KafkaConfig values: \n\tssl.keystore.password = {s}",
    "ssl.key.password={s}",
    "\tssl.truststore.password : {s}",
    "INFO ProducerConfig values: Map(ssl.key.password -> {s})",
    'sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="admin" password="{s}";',
    'KafkaServer { org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="{s}"; };',
    "org.apache.kafka.common.security.scram.ScramLoginModule required username='app' password='{s}';",
    '    user_admin="{s}"',
    'sasl.jaas.config=OAuthBearerLoginModule required clientId="app" clientSecret="{s}" scope="kafka";',
    "sasl.oauthbearer.client.credentials.client.secret = {s}",
    "password.encoder.secret={s}",
    "delegation.token.master.key={s}",
    "value.converter.basic.auth.user.info=app:{s}",
    "connection.password={s}",
    "database.history.producer.sasl.password: '{s}'",
    "consumer.sasl.plain.password=[{s}]",
    "INFO Using credentials (admin, password={s}) for broker 1 (kafka.Client)",
    "UserCredentials{user=admin, pass={s}}",
    "PasswordCredentials[password={s}]",
    "conf.set('sasl.password', '{s}')",
    "{'sasl_plain_username': 'app', 'sasl_plain_password': '{s}'}",
    "&Config{User:admin Password:{s}}",
    ':sasl_plain_password => "{s}"',
    "$password = '{s}';",
    'props.put("ssl.keystore.password", "{s}");',
    'factory.setPassword("{s}");',
    '.withPassword("{s}")',
    # commands
    "+ bin/kafka-configs.sh --alter --add-config 'SCRAM-SHA-512=[iterations=8192,password={s}]' --entity-type users",
    "app --password {s} --topic orders",
    "app --password={s} --topic orders",
    "keytool -importkeystore -srcstorepass {s} -alias x",
    "keytool -genkey -alias x -keypass {s}",
    "keytool -list -storepass {s}",
    "java -Djavax.net.ssl.keyStorePassword={s} -Xmx1g kafka.Kafka",
    "java -Dmy.keystore.pass={s} -jar app.jar",
    "curl -u admin:{s} http://connect:8083/connectors",
    "curl --user admin:{s} http://connect:8083/connectors",
    "sshpass -p {s} ssh kafka@broker1",
    "mysql -h db -u root -p{s} orders",
    "ldapsearch -x -D cn=admin -w {s} -b dc=example",
    "redis-cli -h cache -a {s} ping",
    "docker login -u ci -p {s} registry.example",
    "openssl pkcs12 -in a.p12 -passin pass:{s}",
    "addauth digest super:{s}",
    "[zk: localhost:2181(CONNECTED) 1] addauth digest kafka:{s}",
    "setAcl /kafka digest:kafka:{s}:cdrwa",
    "htpasswd -b -c users admin {s}",
    "echo {s} | kinit kafka@EXAMPLE.COM",
    "kubectl create secret generic kafka --from-literal=password={s}",
    "vault kv put secret/kafka password={s}",
    "machine broker1 login kafka password {s}",
    "PGPASSWORD={s} psql -h db",
    # environment
    "DB_PASS={s}",
    'export KAFKA_OPTS="-Dpw={s}"',
    "POSTGRES_PASSWORD: {s}",
    "KAFKA_SASL_PASSWORD='{s}'",
    "CONNECT_SASL_JAAS_CONFIG=org.apache.kafka.X required username=a password={s};",
    "AWS_SECRET_ACCESS_KEY={s}",
    "aws_session_token = {s}",
    "env: KSQL_PW={s}",
    '{"name":"KAFKA_PASSWORD","value":"{s}"}',
    "- name: KAFKA_PASSWORD\n  value: {s}",
    '- name: DB_PASSWORD\n  value: "{s}"',
    # JSON and XML
    '{"level":"INFO","password":"{s}"}',
    '{"level":"INFO","msg":"config {\\"password\\":\\"{s}\\"}"}',
    '{"log":"{\\"msg\\":\\"{\\\\\\"api_key\\\\\\":\\\\\\"{s}\\\\\\"}\\"}"}',
    '"connection.password" : "{s}",',
    "<password>{s}</password>",
    '<sslKeyPassword encrypted="false">{s}</sslKeyPassword>',
    '<property name="password" value="{s}"/>',
    "<property><name>javax.jdo.option.ConnectionPassword</name><value>{s}</value></property>",
    '<Connector keystorePass="{s}" port="8443"/>',
    # HTTP
    "Authorization: Bearer {s}",
    '"Authorization" : ["Bearer {s}"]',
    "> Authorization: Basic {s}",
    "Proxy-Authorization: Negotiate {s}",
    "Set-Cookie: JSESSIONID={s}; Path=/; HttpOnly",
    "Cookie: theme=dark; sid={s}",
    "X-API-Key: {s}",
    "x-auth-token: {s}",
    "X-Vault-Token: {s}",
    "X-Amz-Security-Token={s}&X-Amz-Date=20261122T000000Z",
    "GET /topics?api_key={s}&limit=5 HTTP/1.1",
    "GET /callback?code=1&access_token={s} HTTP/1.1",
    "POST /oauth/token grant_type=client_credentials&client_id=a&client_secret={s}",
    'token: "{s}"',
    "refresh_token={s}",
    "id_token={s}",
    "session token {s} issued",
    "secret={s}",
    "apikey={s}",
    "api-secret: {s}",
    # URLs and connection strings
    "postgres://app:{s}@db.example:5432/orders",
    "jdbc:postgresql://db.example/orders?user=app&password={s}",
    "jdbc:oracle:thin:scott/{s}@//db.example:1521/orders",
    "mongodb+srv://app:{s}@cluster0.example.net/orders",
    "amqp://app:{s}@rabbit.example:5672/vhost",
    "redis://:{s}@cache.example:6379/0",
    "https://{s}@sentry.example/42",
    "git clone https://oauth2:{s}@git.example/kafka.git",
    "schema.registry.url=https://app:{s}@registry.example:8081",
    "connecting to app:{s}@broker1.example:9092",
    "Server=db.example;Database=x;User Id=sa;Password={s};Encrypt=true",
    "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey={s};EndpointSuffix=core.example.net",
    "Endpoint=sb://ns.example.net/;SharedAccessKeyName=Root;SharedAccessKey={s}",
    "https://acct.blob.example.net/c/b?sv=2022-11-02&sp=r&sig={s}",
    "url=https%3A%2F%2Fapp%3A{s}%40host.example",
    "payload password%3D{s}",
    # said by people and programs
    "the password is {s}",
    'The password "{s}" was rejected',
    "login failed for user admin with password {s}",
    "password for admin: {s}",
    "Enter password for admin:\n{s}",
    "password:\n{s}",
    "password=\\\n    {s}",
    "PASSWORD = \n\n{s}",
    "pwd {s}",
    "user/pass: admin/{s}",
    "creds: admin / {s}",
    "Passwort: {s}",
    "contraseña: {s}",
    "mot de passe : {s}",
    "пароль: {s}",
    "密码：{s}",
    "パスワード: {s}",
    # colours and other disguises
    "\x1b[32mpassword\x1b[0m=\x1b[31m{s}\x1b[0m",
    "pass\x1b[1mword\x1b[0m: {s}",
    "password​={s}",
    "PaSsWoRd={s}",
    "ssl.keystore.p\\u0061ssword={s}",
    "pass-word = {s}",
    # SCRAM and delegation tokens as ZooKeeper holds them
    "SCRAM-SHA-256=salt={s},stored_key=x,server_key=x,iterations=4096",
    '{"version":1,"config":{"SCRAM-SHA-512":"salt=x,stored_key={s},server_key=x,iterations=8192"}}',
    '{"hmac":"{s}","owner":"User:app"}',
    "TokenInformation(tokenId=x) hmac={s}",
    "snowflake.private.key={s}",
    "ssl.keystore.key={s}",
)
"""Where something around it says that it is one."""

LONE = (
    "INFO connected with {s}",
    "{s}",
    "error: request rejected ({s})",
    'args: ["{s}"]',
    "https://host.example/path/{s}",
    "x={s}",
    "[2026-11-22 10:00:00,001] WARN unexpected value {s} in line 3 (com.example.Reader)",
)
"""Where only its own form gives it away."""

SLACK = "https://hooks.slack.com/services/T0ABCDEFG/B0ABCDEFG/{s}"

KEYS = (
    "-----BEGIN PRIVATE KEY-----\n{s}\n-----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\n{s}\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n{s}\n-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{s}\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----",
    "[2026-11-22 10:00:00,001] INFO -----BEGIN EC PRIVATE KEY-----\n[2026-11-22 10:00:00,002] INFO {dated}"
    "\n[2026-11-22 10:00:00,009] INFO -----END EC PRIVATE KEY-----",
    "    ssl.keystore.key = -----BEGIN PRIVATE KEY-----\n    {indented}\n    -----END PRIVATE KEY-----",
    '{"private_key": "-----BEGIN PRIVATE KEY-----\\n{escaped}\\n-----END PRIVATE KEY-----\\n"}',
    "-----BEGIN PRIVATE KEY----- {spaced} -----END PRIVATE KEY-----",
    "kafka-0 | -----BEGIN PRIVATE KEY-----\nkafka-0 | {prefixed}\nkafka-0 | -----END PRIVATE KEY-----",
)
"""Private keys, over lines of their own or in one."""


def planted(form: str, secret: str) -> str:
    """A secret in one of the forms; of a private key its lines are laid out as the form wants."""
    lines = secret.split("\n")
    dated = "\n[2026-11-22 10:00:00,003] INFO ".join(lines)
    layouts = {
        "{s}": secret,
        "{dated}": dated,
        "{indented}": "\n    ".join(lines),
        "{escaped}": "\\n".join(lines),
        "{spaced}": " ".join(lines),
        "{prefixed}": "\nkafka-0 | ".join(lines),
    }
    for place, text in layouts.items():
        form = form.replace(place, text)
    return form
