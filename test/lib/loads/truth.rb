# Ruby programs whose possible stacks are known, for test/record/record-ruby.t: truth.rb MODE SECONDS.
#
# Leaves burn 50, 30 and 20 % of the time, in loops of a few us. record-ruby.awk has the possible callers.

class Truth
  def fifty
    x = i = 0
    while i < 100
      x = (x + 7) & 127
      i += 1
    end
    x
  end

  def thirty
    x = i = 0
    while i < 60
      x = (x + 7) & 127
      i += 1
    end
    x
  end

  def twenty
    x = i = 0
    while i < 40
      x = (x + 7) & 127
      i += 1
    end
    x
  end

  def left
    fifty
  end

  def right
    thirty
  end

  def middle
    twenty
  end

  # Alternating parents at equal depth.
  def parents
    left
    right
    middle
  end

  # Deep recursion, with another leaf each time.
  def down(depth)
    return down(depth - 1) if depth > 0
    i = 0
    while i < 20
      parents
      i += 1
    end
  end

  def deep
    down(120)
  end

  def deeper
    down(1900)
  end

  # Native code between frames: sort_by, each and map call back, nested.
  def callbacks
    [2, 1].sort_by do |x|
      [1, 2].each { |y| left }
      [3].map { |y| right }
      middle
      -x
    end
  end

  # Procs capture the environments of their methods, which move to the heap.
  def keep(&block)
    @kept = block
    block.call(1)
  end

  def closures
    n = 0
    keep { |x| n += x; left }
    @kept.call(1)
    right
    middle
  end

  def raises
    twenty
    raise ArgumentError, "raised"
  ensure
    right
  end

  def exceptions
    raises
  rescue ArgumentError
    left
  end

  # A throw through native frames.
  def throws
    [1].each { |x| [2].each { |y| left; throw :done } }
  end

  def catches
    catch(:done) { throws }
    right
    middle
  end

  def fibers
    fiber = Fiber.new do
      3.times { left; Fiber.yield }
    end
    3.times do
      fiber.resume
      right
    end
    middle
  end

  # New code all the time.
  def renewed
    n = 0
    while n < 20
      self.class.class_eval("def made#{n % 7}; fifty; end; remove_method :made#{n % 7}") if false
      self.class.class_eval("def made#{n % 7}; fifty; end")
      send("made#{n % 7}")
      n += 1
    end
  end

  define_method(:defined) { |x| left }

  def singletons
    Truth.single(self)
    defined(1)
    Kind.extended(self)
    middle
  end

  def self.single(truth)
    truth.left
  end

  module Kind
    def self.extended(truth)
      truth.right
    end
  end

  def threads(finish)
    [Thread.new { left while now < finish }, Thread.new { right while now < finish }].each(&:join)
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def main(mode, seconds)
    finish = now + seconds
    return threads(finish) if mode == "threads"
    send(mode) while now < finish
  end
end

Truth.new.main(ARGV[0], ARGV[1].to_f)
