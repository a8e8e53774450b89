package io.github.snowlease;

import java.util.Arrays;

/** What is going to happen, in order of time; of two at the same time, what was planned first. */
final class SimAgenda {
  private long[] times = new long[256];
  private long[] order = new long[256];
  private Runnable[] actions = new Runnable[256];
  private int size;
  private long planned;

  void add(long time, Runnable action) {
    if (size == times.length) {
      times = Arrays.copyOf(times, 2 * size);
      order = Arrays.copyOf(order, 2 * size);
      actions = Arrays.copyOf(actions, 2 * size);
    }
    long rank = planned++;
    int hole = size++;
    while (hole > 0) {
      int parent = (hole - 1) >>> 1;
      if (times[parent] <= time) {
        break; // planned earlier, so it goes first at the same time
      }
      move(parent, hole);
      hole = parent;
    }
    put(hole, time, rank, action);
  }

  boolean hasUntil(long time) {
    return size > 0 && times[0] <= time;
  }

  long nextTime() {
    return times[0];
  }

  Runnable take() {
    Runnable first = actions[0];
    size--;
    long time = times[size];
    long rank = order[size];
    Runnable action = actions[size];
    int hole = 0;
    while (true) {
      int child = 2 * hole + 1;
      if (child >= size) {
        break;
      }
      if (child + 1 < size && isBefore(child + 1, child)) {
        child++;
      }
      if (times[child] > time || (times[child] == time && order[child] > rank)) {
        break;
      }
      move(child, hole);
      hole = child;
    }
    put(hole, time, rank, action);
    return first;
  }

  private boolean isBefore(int a, int b) {
    return times[a] < times[b] || (times[a] == times[b] && order[a] < order[b]);
  }

  private void move(int from, int to) {
    put(to, times[from], order[from], actions[from]);
  }

  private void put(int at, long time, long rank, Runnable action) {
    times[at] = time;
    order[at] = rank;
    actions[at] = action;
  }
}
