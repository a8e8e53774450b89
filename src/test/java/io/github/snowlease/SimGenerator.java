package io.github.snowlease;

/**
 * The production generator, with a place between any two of its steps where its thread may be
 * stopped and the rest of the world goes on.
 */
class SimGenerator extends SnowflakeGenerator {
  private final SimProcess process;

  SimGenerator(SimProcess process, BitLayout layout, IdClock clock, TimeSource time) {
    super(layout, clock, time, 0, process);
    this.process = process;
  }

  @Override
  long word() {
    process.step();
    long word = super.word();
    process.step();
    return word;
  }

  @Override
  LeaseWindow window() {
    LeaseWindow window = super.window();
    process.step();
    return window;
  }

  @Override
  boolean advance(long from, long to) {
    boolean advanced = super.advance(from, to);
    process.step();
    return advanced;
  }

  @Override
  boolean open(LeaseWindow granted) {
    process.step();
    boolean opened = super.open(granted);
    if (opened) {
      process.opened(granted, lastTick());
    }
    process.step();
    return opened;
  }

  @Override
  boolean extend(LeaseWindow from, LeaseWindow to) {
    process.step();
    boolean extended = super.extend(from, to);
    process.step();
    return extended;
  }

  @Override
  void seal() {
    process.step();
    super.seal();
    process.step();
  }

  @Override
  long close() {
    process.step();
    long lastTick = super.close();
    process.step();
    return lastTick;
  }
}
