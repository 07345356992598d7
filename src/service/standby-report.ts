import type { PartReport } from '../http/health-routes.js'
import type { FollowProgress } from '../store/follow-owner.js'

/** What `/readyz` says of the journal while another service owns it. */
export function standbyReport(progress: FollowProgress | null): PartReport {
  const reason = 'A standby: another service owns the journal, and this one follows it.'
  if (progress === null) return { status: 'down', reason, standby: true }
  const { epoch, stored, applied } = progress
  return { status: 'down', reason, standby: true, epoch, behind: Math.max(0, stored - applied) }
}
