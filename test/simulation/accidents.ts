import type { CommitStage, Disk } from './disk.js'
import type { Features } from './features.js'
import type { Machines } from './machines.js'
import type { Quorum } from './quorum.js'
import type { Draw } from './random.js'
import type { Scheduler } from './scheduler.js'

export interface AccidentPorts {
  readonly draw: Draw
  readonly scheduler: Scheduler
  /** Of all machines. */
  readonly disks: readonly Disk[]
  readonly machines: Machines | null
  readonly quorum: Quorum
  /** Ends the service, which starts anew. */
  readonly kill: () => void
  readonly note: (line: string) => void
}

/** Some come when the last call has been made. */
const AFTER_MS = 20_000
const FIRST_MS = 500
const FULL_MS_MAX = 12_000
const AWAY_MS_MAX = 60_000
/** As far as kills at a commit are spread. */
const COMMITS_PER_CALL = 4

/** What happens to processes and disks, at moments drawn now. @param spanMs while calls are made */
export function planAccidents(features: Features, spanMs: number, ports: AccidentPorts): void {
  const { kills, commitKills, fullDisks, quorumAway, quorumRestarts, deposed } = features
  const { draw, scheduler, disks, quorum, kill, note } = ports
  const startMs = scheduler.nowMs
  for (let i = 0; i < kills; i++) {
    scheduler.at(startMs + FIRST_MS + draw.integer(spanMs + AFTER_MS), kill)
  }
  killAtCommits(commitKills, features, ports)
  for (let i = 0; i < fullDisks; i++) {
    scheduler.at(startMs + draw.integer(spanMs), () => {
      const untilMs = scheduler.nowMs + draw.integer(FULL_MS_MAX)
      for (const disk of disks) disk.fullUntilMs = untilMs
      note('the disk is full')
    })
  }
  for (let i = 0; i < quorumRestarts; i++) {
    scheduler.at(startMs + draw.integer(spanMs), () => quorum.restartSigner())
  }
  planUserSide(features, spanMs, ports)
  if (quorumAway) {
    scheduler.at(startMs + draw.integer(spanMs), () => {
      quorum.awayUntilMs = scheduler.nowMs + draw.integer(AWAY_MS_MAX)
      note('the quorum is away')
    })
  }
  for (let i = 0; i < deposed; i++) {
    scheduler.at(startMs + draw.integer(spanMs), () => quorum.announceDeposed())
  }
  planCluster(features, spanMs, ports)
}

function planCluster(
  { cluster, parted }: Features,
  spanMs: number,
  { draw, scheduler, machines, quorum }: AccidentPorts,
): void {
  if (cluster === null || machines === null) return
  const startMs = scheduler.nowMs
  function sometimes(times: number, happens: () => void): void {
    for (let i = 0; i < times; i++) {
      scheduler.at(startMs + FIRST_MS + draw.integer(spanMs + AFTER_MS), happens)
    }
  }
  sometimes(cluster.cuts, () => machines.cut())
  sometimes(cluster.engineAway, () => machines.away())
  sometimes(cluster.leaves, () => machines.leave())
  sometimes(cluster.freezes, () => machines.freeze())
  if (parted === null) return
  sometimes(parted.cuts, () => machines.links.cut(parted.oneWay))
  sometimes(parted.steps, () => machines.setClock())
  sometimes(parted.deposedAsks, () => quorum.askDeposed())
}

function planUserSide(
  { userSideKills, userSideFull, hasPowerLosses }: Features,
  spanMs: number,
  { draw, scheduler, quorum }: AccidentPorts,
): void {
  const startMs = scheduler.nowMs
  for (let i = 0; i < userSideKills; i++) {
    scheduler.at(startMs + FIRST_MS + draw.integer(spanMs + AFTER_MS), () =>
      quorum.killUserSide(hasPowerLosses && draw.chance(0.5)),
    )
  }
  for (let i = 0; i < userSideFull; i++) {
    scheduler.at(startMs + draw.integer(spanMs), () =>
      quorum.fillUserSideDisk(scheduler.nowMs + draw.integer(FULL_MS_MAX)),
    )
  }
}

/** In between what a process asked of its disk and what it does once it was promised. */
function killAtCommits(
  count: number,
  { calls }: Features,
  { draw, scheduler, disks, kill }: AccidentPorts,
): void {
  const stages = new Map<number, CommitStage>()
  for (let i = 0; i < count; i++) {
    const nth = 1 + draw.integer(COMMITS_PER_CALL * calls)
    stages.set(nth, draw.pick(['asked', 'written']))
  }
  for (const disk of disks) {
    disk.followed = (nth, stage) => {
      if (stages.get(nth) !== stage) return
      // What runs now is done first, as a thread would be that is not the one that was killed.
      scheduler.after(0, kill)
    }
  }
}
