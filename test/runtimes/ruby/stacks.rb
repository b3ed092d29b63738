# Stops in stacks that are known, for test/runtimes/ruby/ruby_test.c: prints a line for each frame from the caller of `here` on, the label of
# Ruby 3.4 without its class, file and line, then "end", and stops itself. Its argument is the name of a method.

def here(levels = 1)
  caller_locations(levels).each do |at|
    puts "#{at.label.sub(/\A((rescue|ensure) in )+/, "")}\t#{at.absolute_path || at.path}\t#{at.lineno}"
  end
  puts "end"
  $stdout.flush
  Process.kill(:STOP, $$)
  sleep # the stop reaches this thread soon after
end

class Stacks
  def plain
    here
  end

  def down(n)
    return plain if n == 0
    down(n - 1)
  end

  def deep
    down(60)
  end

  def deeper
    down(2000)
  end

  def blocks
    [1].each { |x| [2].map { |y| [4, 3].sort_by { |z| here; exit! } } }
  end

  def optional(a, b = [1].map { |x| x }, *rest, key: 2, &block)
    block.call(a, key)
  end

  def closures
    held = proc { |x| here }
    binding
    optional(1, key: 3) { |a, b| [held].each { |p| p.call(a + b) } }
  end

  def exceptions
    raise ArgumentError, "raised"
  rescue ArgumentError
    [1].each { |x| begin; Integer("x"); rescue ArgumentError; here; ensure; x; end }
  end

  def self.single
    [1].each { |x| here }
  end

  def singletons
    Stacks.single
  end

  define_method(:defined) { |x| here }

  def defined_methods
    defined(1)
  end

  def evals
    eval("[1].each { |x|\n here }", binding, "evaluated.rb", 10)
  end

  def fibers
    Fiber.new { [1].each { |x| here } }.resume
  end

  def enumerators
    e = Enumerator.new { |y| here; y << 1 }
    e.next
  end

  def threads
    Thread.new { [1].each { |x| here } }.join
  end

  # A method with a table of lines in several parts
  class_eval("def long\n" + (1..400).map { |n| "  @a = [#{n}, :b, 'c']\n" }.join + "  here\nend", "long.rb", 100)

  module Kind
    module_function

    def function
      here
    end
  end

  def modules
    Kind.function
  end

  def namés
    here
  end
end

Stacks.new.send(ARGV[0])
