// Plays a declarative pipeline outside Jenkins: Groovy parses it, `sh` really runs, and a step that is not known here is an error.
import org.codehaus.groovy.control.CompilerConfiguration

class Build {
    String description
    String result = 'SUCCESS'
}

class Player {
    File workspace
    Build currentBuild = new Build()
    List<String> archived = []
    Map<String, String> env = new LinkedHashMap<>(System.getenv())
    boolean inEnvironment

    void pipeline(Closure body) { body() }
    void agent(Closure body) { body() }
    void label(String name) { assert name }
    void triggers(Closure body) { body() }
    void cron(String times) { assert times.split(' ').size() == 5 }
    void options(Closure body) { body() }
    void disableConcurrentBuilds() { }
    void timeout(Map how) { assert how.time > 0 && how.unit == 'HOURS' }
    Map logRotator(Map how) { how }
    void buildDiscarder(Map how) { assert how.numToKeepStr.toInteger() > 0 }
    void environment(Closure body) { inEnvironment = true; body(); inEnvironment = false }
    void propertyMissing(String name, Object value) {
        if (!inEnvironment) throw new MissingPropertyException(name, Player)
        env[name] = value.toString()
    }
    void stages(Closure body) {
        try { body() } catch (IllegalStateException failed) { currentBuild.result = 'FAILURE' }
    }
    void stage(String name, Closure body) { body() }
    void steps(Closure body) { body() }
    void script(Closure body) { body() }
    void post(Closure body) { body() }
    void always(Closure body) { body() }
    void unstable(String why) { currentBuild.result = 'UNSTABLE' }
    void error(String why) { throw new IllegalStateException(why) }
    void archiveArtifacts(Map what) {
        assert what.artifacts.endsWith('/**')
        new File(workspace, what.artifacts - '/**').eachFileRecurse { archived << workspace.toPath().relativize(it.toPath()).toString() }
    }
    Object sh(String script) { sh(script: script) }
    Object sh(Map how) {
        def process = new ProcessBuilder('/bin/sh', '-xe', '-c', how.script).directory(workspace)
        process.environment().clear()
        process.environment().putAll(env)
        process.redirectError(ProcessBuilder.Redirect.INHERIT)
        def running = process.start()
        def said = running.inputStream.text
        def code = running.waitFor()
        if (how.returnStatus) return code
        if (code) error("script returned exit code ${code}")
        return said
    }
}

def workspace = new File(args[0])
def player = new Player(workspace: workspace)
def script = new GroovyShell(new CompilerConfiguration(scriptBaseClass: DelegatingScript.name)).parse(new File(workspace, 'Jenkinsfile'))
script.setDelegate(player)
script.run()
println player.currentBuild.result
println player.currentBuild.description
println player.archived.sort().join(' ')
