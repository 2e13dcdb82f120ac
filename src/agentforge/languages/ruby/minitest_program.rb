# Runs minitest's tests of the given files and tells the results over the channel: signed JSON lines on an inherited descriptor.
require "json"
require "openssl"

module AgentForge
  setup = JSON.parse($stdin.read)
  KEY = [setup.fetch("key")].pack("H*").freeze
  OUT = IO.for_fd(setup.fetch("descriptor"), "wb")
  OUT.sync = true
  LOCK = Mutex.new
  LIMIT = 4000

  @count = 0

  # Send one record.
  def self.send(record)
    LOCK.synchronize do
      body = JSON.generate(record)
      signature = OpenSSL::HMAC.hexdigest("SHA256", KEY, "#{@count}:#{body}")
      OUT.write(%({"n":#{@count},"s":"#{signature}","r":#{body}}\n))
      @count += 1
    end
  end

  # A text that JSON can hold, of bounded length.
  def self.text(value)
    value.to_s.dup.force_encoding("UTF-8").scrub("?")[0, LIMIT]
  end

  # What of an exception a verdict needs.
  def self.raised(error)
    { name: text(error.class.name), message: text(error.message), trace: text((error.backtrace || []).first(40).join("\n")) }
  end

  # The file in which a test stands, and its name without the number that a spec gives it.
  def self.id(owner, name)
    file = owner.instance_method(name).source_location&.first || ""
    shown = owner < Minitest::Spec ? name.sub(/\Atest_\d{4}_/, "") : name
    [File.expand_path(file), "#{owner.name}::#{shown}"]
  end
end

seed, *files = ARGV
ARGV.clear

begin
  require "minitest"
rescue LoadError => e
  AgentForge.send({ kind: "problem", text: "minitest cannot be loaded: #{e.message}" })
  AgentForge.send({ kind: "finished" })
  exit 1
end

module Minitest
  # The files say `require "minitest/autorun"`; it is this program that runs them.
  def self.autorun; end
end
require "minitest/spec"

# Tells every result.
class AgentForgeReporter < Minitest::AbstractReporter
  def initialize
    super
    @passed = true
  end

  def record(result)
    file, name = IDS.fetch([result.klass, result.name]) { [result.source_location.first.to_s, "#{result.klass}::#{result.name}"] }
    failure = result.failures.find { |one| !one.is_a?(Minitest::Skip) }
    outcome = failure ? "failed" : (result.skipped? ? "skipped" : "passed")
    @passed &&= failure.nil?
    error = failure.is_a?(Minitest::UnexpectedError) ? failure.error : failure
    AgentForge.send({ kind: "result", file: file, name: name, outcome: outcome, duration: result.time, error: error && AgentForge.raised(error) })
  end

  def passed?
    @passed
  end
end

module Minitest
  def self.plugin_agentforge_init(_options)
    reporter.reporters.clear
    reporter << AgentForgeReporter.new
  end
end

failed = false
files.each do |file|
  begin
    require File.expand_path(file)
  rescue Exception => e # rubocop:disable Lint/RescueException -- whatever a file does when it is loaded is told
    raise if e.is_a?(SignalException)
    failed = true
    AgentForge.send({ kind: "broken", file: File.expand_path(file), error: AgentForge.raised(e) })
  end
end

Minitest.seed = seed.to_i
owners = Minitest::Runnable.runnables
IDS = owners.flat_map { |owner| owner.runnable_methods.map { |name| [[owner.name, name], AgentForge.id(owner, name)] } }.to_h
collected = IDS.values.map { |id| id.join("\n") }
AgentForge.send({ kind: "hello", runner: "minitest #{Minitest::VERSION} on ruby #{RUBY_VERSION}", collected: collected })
Minitest.extensions << "agentforge"
passed = Minitest.run(["--seed", seed])
AgentForge.send({ kind: "finished" })

exit!(passed && !failed ? 0 : 1)
