import type { PartReport } from '../http/health-routes.js'
import type { FollowProgress } from '../store/follow-leader.js'

const FOLLOWS = 'A standby: another service leads the journal, and this one follows it.'
const RESTORES =
  'A standby: another service leads the journal, and this store is being restored from its snapshot.'
const HINDERED =
  'A standby that cannot sign or would refuse writes, so it does not take over. Its log gives the reason.'
const OWNERLESS =
  'A standby of a journal that has had no leader yet. Start the service with the role owner.'

/**
 * Builds the journal's part of `/readyz` while another service leads the journal.
 * @param isLoaded whether the worker threads wait only for the journal
 * @param id names this node in `countersign cluster move`
 */
export function standbyReport(
  progress: FollowProgress | null,
  isLoaded: boolean,
  id: string,
): PartReport {
  const standby = { standby: true, loaded: isLoaded, id }
  if (progress === null) return { status: 'down', reason: FOLLOWS, ...standby }
  const { epoch, stored, applied, restoring, hindrance } = progress
  if (restoring !== null) {
    const { chunks, of } = restoring
    const percent = Math.floor((100 * chunks) / of)
    return { status: 'down', reason: RESTORES, ...standby, restored_percent: percent }
  }
  const behind = Math.max(0, stored - applied)
  if (hindrance !== null) {
    return { status: 'down', reason: HINDERED, ...standby, epoch, behind, hindered: true }
  }
  const reason = epoch === 0 ? OWNERLESS : FOLLOWS
  return { status: 'down', reason, ...standby, epoch, behind }
}
