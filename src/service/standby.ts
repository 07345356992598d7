import { identityLinkAt } from '../config/identity-link.js'
import type { Serve } from '../http/app.js'
import type { ForwardOptions } from '../http/forward-to-owner.js'
import type { FrontDoor } from '../http/front-door.js'
import { listsReport, type ReadinessSources } from '../http/readiness-parts.js'
import { standbyAnswers } from '../http/standby-answers.js'
import { openQuorumProbe, type QuorumProbe } from '../service-custody/quorum-probe.js'
import type { FollowProgress } from '../store/follow-owner.js'
import { nodeIdOf } from '../store/journal-move.js'
import type { NodeLink } from './node-link.js'
import type { OtherCells } from './other-cells.js'
import { standbyReport } from './standby-report.js'

/** What a node does for callers while it waits for the journal. */
export interface Standby {
  /** Answers at the port from now on: as the owner does by a link to it, or that another one serves. */
  begin(progress: () => FollowProgress | null): Promise<void>
  /** Told of each look at the owner. */
  followed(progress: FollowProgress): void
  /** It is told to end, and answers what is under way. */
  isEnding(): boolean
  /** This node owns the journal. */
  end(): void
}

export interface StandbyOptions {
  readonly door: FrontDoor
  readonly host: string
  readonly port: number
  /** Null: there is none. */
  readonly link: NodeLink | null
  /** What others know it by. */
  readonly node: string
  readonly clientAddress: ForwardOptions['clientAddress']
  /** What is of other cells, which are there or not as this one is. */
  readonly cells: Pick<OtherCells, 'elsewhere' | 'drain'>
  /** Whether its threads wait for nothing but the journal. */
  readonly areLoaded: () => boolean
  /** What it would screen with. */
  readonly lists: ReadinessSources['lists']
  readonly home: string
  /** COUNTERSIGN_IDENTITY_LINK_FILE; null: the identity provider is reached by its socket. */
  readonly identityLinkFile: string | null
}

/** A process that ends waits for what it has passed on, and no longer. */
const DRAIN_MS = 10_000

export function createStandby(options: StandbyOptions): Standby {
  const { door, host, port, link, node, clientAddress, cells, areLoaded, lists } = options
  let probe: QuorumProbe | null = null
  let isEnding = false
  let end = (): void => undefined
  return {
    begin(progress) {
      const report = () => ({
        ...standbyReport(progress(), areLoaded(), nodeIdOf(node)),
        lists: listsReport(lists()),
      })
      if (link === null) return door.answerEarly(host, port, standbyAnswers(report))
      // Once it waits: who would sign with it.
      probe = openQuorumProbe(options.home, userSideOf(options))
      end = endInTurn(() => {
        isEnding = true
        door.stopEarly()
        return Promise.all([link.drain(DRAIN_MS), cells.drain()])
      })
      const forward = link.forward({ report, clientAddress })
      const { elsewhere } = cells
      const serve: Serve = (response, request) =>
        (elsewhere?.(request) ?? forward)(response, request)
      return door.answerEarly(host, port, serve)
    },
    followed(progress) {
      link?.followed(progress)
      const { asked, hindrance } = progress
      const couldTake = hindrance === null && areLoaded() && !isEnding && probe?.answering === true
      if (asked !== null && couldTake) link?.saysThatItWaits(asked)
    },
    isEnding: () => isEnding,
    end() {
      end()
      probe?.close()
      link?.owns()
    },
  }
}

function userSideOf({ identityLinkFile }: StandbyOptions) {
  return identityLinkFile === null ? undefined : identityLinkAt(identityLinkFile)
}

/**
 * Has SIGTERM and SIGINT end the process once `drain` has resolved. Without, they end it at once.
 * @returns ends that: the process is ended by other means from then on
 */
function endInTurn(drain: () => Promise<unknown>): () => void {
  let isEnding = false
  const stop = (): void => {
    if (isEnding) return
    isEnding = true
    void drain().then(() => process.exit(0))
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  return () => {
    process.off('SIGTERM', stop)
    process.off('SIGINT', stop)
  }
}
