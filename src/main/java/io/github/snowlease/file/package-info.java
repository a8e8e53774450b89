/**
 * Leases kept in a folder of this host, for processes of one host: laptops, tests, and services
 * that have one machine and no Redis.
 *
 * <p>Each namespace is a folder of its own:
 *
 * <ul>
 *   <li>{@code ledger.txt}: the fence of every slot that was ever granted, as text. It is replaced
 *       as a whole by an atomic rename, after both file and folder have reached the disk, so it is
 *       complete whenever a process or the machine dies.
 *   <li>{@code ledger.lock}: locked by whoever reads or replaces the ledger.
 *   <li>{@code slots/3-7.lock}: locked for as long as a living process holds slot 3:7.
 *   <li>{@code slots/3-7.lease}: who holds it, for people. The same file with any other text blocks
 *       the slot.
 * </ul>
 *
 * <p>The ledger decides, as in every store: windows of one slot never overlap, whatever happens to
 * the locks. What nobody can notice in time is the deletion of the whole folder while processes
 * still mint: a newcomer takes the missing folder for a new one.
 */
@NullMarked
package io.github.snowlease.file;

import org.jspecify.annotations.NullMarked;
