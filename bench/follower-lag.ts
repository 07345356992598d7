import { join } from 'node:path'
import { type Environment, openBesideService } from '../src/store/environment.js'
import { journalPositionOf } from '../src/store/journal-position.js'
import { type Latencies, latenciesOf } from './figures.js'

/**
 * Pause between two polls of the stores; a leader tells its followers twice a second how far they
 * may go.
 */
const POLL_MS = 10

interface Seen {
  readonly seq: number
  readonly atMs: number
}

/**
 * Polls, beside the services, how long ago the leader stored what its followers still lack: at each
 * poll, for each follower, the time since the first such entry appeared in the leader's store; 0 if
 * it lacks none.
 * @returns a function that ends it
 */
export function followLag(leader: string, followers: readonly string[]): () => Promise<Latencies> {
  const open = (home: string) =>
    openBesideService(join(home, 'service', 'store'), undefined, 'opened')
  const ofLeader = open(leader)
  const ofFollowers = followers.map(open)
  const seen: Seen[] = []
  const lagsMs: number[] = []
  const timer = setInterval(() => {
    const atMs = performance.now()
    const seq = seqIn(ofLeader)
    if (seq !== seen.at(-1)?.seq) seen.push({ seq, atMs })
    const applied = ofFollowers.map(seqIn)
    for (const each of applied) {
      const lacked = seen.find((one) => one.seq > each)
      lagsMs.push(lacked === undefined ? 0 : atMs - lacked.atMs)
    }
    // Entries that all stores have are dropped, because a run may be long.
    const least = Math.min(...applied)
    while ((seen[0]?.seq ?? least) < least && seen.length > 1) seen.shift()
  }, POLL_MS)
  return async () => {
    clearInterval(timer)
    for (const { root } of [ofLeader, ...ofFollowers]) await root.close()
    return latenciesOf(lagsMs)
  }
}

function seqIn(environment: Environment): number {
  environment.root.resetReadTxn()
  return journalPositionOf(environment)?.seq ?? 0
}
