# waits.rb SECONDS - threads that wait at known places, as waits.py.
require "socket"

$end = Process.clock_gettime(Process::CLOCK_MONOTONIC) + ARGV[0].to_f

def going
  Process.clock_gettime(Process::CLOCK_MONOTONIC) < $end
end

def pause(seconds)
  sleep(seconds)
end

def left
  pause(0.03)
end

def right
  pause(0.01)
end

def down(n)
  n > 0 ? down(n - 1) : pause(0.02)
end

def alternates
  while going
    left
    right
  end
end

def deep
  down(100) while going
end

def receives
  while $receiver.recv(1) != ""
  end
end

def takes
  while $items.pop
  end
end

def calls_back
  [1].sort_by { |n| slow_key(n) } while going
end

def slow_key(n)
  pause(0.02)
  n
end

def holds
  while going
    pause(0.02)
    $sender.send("x", 0)
    $items.push(1)
  end
  $sender.close
  $items.push(nil)
end

$receiver, $sender = UNIXSocket.pair
$items = Queue.new
threads = %i[alternates deep receives takes calls_back holds].map { |name| Thread.new { send(name) } }
threads.each(&:join)
