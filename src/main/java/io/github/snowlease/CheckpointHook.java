package io.github.snowlease;

import org.crac.Context;
import org.crac.Core;
import org.crac.Resource;

/**
 * Has a lease dropped before a checkpoint of the process (CRaC, SnapStart) and a slot claimed anew
 * after. The only class that needs {@code org.crac}: where the application does not bring it,
 * loading this class throws a {@link NoClassDefFoundError}.
 */
final class CheckpointHook implements Resource {
  private final Runnable before;
  private final Runnable after;

  private CheckpointHook(Runnable before, Runnable after) {
    this.before = before;
    this.after = after;
  }

  /**
   * Registers a hook.
   *
   * @param before runs before a checkpoint; what it throws prevents that
   * @param after runs after a restore, and after a checkpoint that did not come about
   * @return what to hold on to as long as the hook is wanted, as org.crac refers to it weakly
   */
  static Object register(Runnable before, Runnable after) {
    CheckpointHook hook = new CheckpointHook(before, after);
    Core.getGlobalContext().register(hook);
    return hook;
  }

  @Override
  public void beforeCheckpoint(Context<? extends Resource> context) {
    before.run();
  }

  @Override
  public void afterRestore(Context<? extends Resource> context) {
    after.run();
  }
}
