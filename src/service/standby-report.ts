import type { PartReport } from '../http/health-routes.js'
import type { FollowProgress } from '../store/follow-owner.js'

const FOLLOWS = 'A standby: another service owns the journal, and this one follows it.'
const RESTORES =
  'A standby: another service owns the journal, and the store here is restored from its snapshot.'
const HINDERED =
  'A standby that could sign nothing, or would refuse writes, and so leaves the journal to others: its log says why.'
const OWNERLESS = 'A standby of a journal that nobody has owned yet: start its owner.'

/**
 * What `/readyz` says of the journal while another service owns it.
 * @param isLoaded its threads wait for nothing but the journal
 * @param id by which the journal is handed over to it (`countersign cluster move`)
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
