import { join } from 'node:path'
import { type Environment, openBesideService } from '../src/store/environment.js'
import { journalPositionOf } from '../src/store/journal-position.js'
import { type Latencies, latenciesOf } from './figures.js'

/** Between two looks at the stores; an owner says twice a second how far those that follow may go. */
const LOOK_MS = 10

interface Seen {
  readonly seq: number
  readonly atMs: number
}

/**
 * Looks beside the services how long ago the owner had stored what its followers still lack: at each look,
 * for each of them, the time since the first such entry was seen in the owner's store; 0 where it lacks none.
 * @returns ends that
 */
export function followLag(owner: string, followers: readonly string[]): () => Promise<Latencies> {
  const open = (home: string) =>
    openBesideService(join(home, 'service', 'store'), undefined, 'opened')
  const ofOwner = open(owner)
  const ofFollowers = followers.map(open)
  const seen: Seen[] = []
  const lagsMs: number[] = []
  const timer = setInterval(() => {
    const atMs = performance.now()
    const seq = seqIn(ofOwner)
    if (seq !== seen.at(-1)?.seq) seen.push({ seq, atMs })
    const applied = ofFollowers.map(seqIn)
    for (const each of applied) {
      const lacked = seen.find((one) => one.seq > each)
      lagsMs.push(lacked === undefined ? 0 : atMs - lacked.atMs)
    }
    // What all have is of no use any more, and a run may be long.
    const least = Math.min(...applied)
    while ((seen[0]?.seq ?? least) < least && seen.length > 1) seen.shift()
  }, LOOK_MS)
  return async () => {
    clearInterval(timer)
    for (const { root } of [ofOwner, ...ofFollowers]) await root.close()
    return latenciesOf(lagsMs)
  }
}

function seqIn(environment: Environment): number {
  environment.root.resetReadTxn()
  return journalPositionOf(environment)?.seq ?? 0
}
