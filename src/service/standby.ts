import { identityLinkAt } from '../config/identity-link.js'
import type { Serve } from '../http/app.js'
import type { ForwardOptions } from '../http/forward-to-leader.js'
import type { FrontDoor } from '../http/front-door.js'
import { listsReport, type ReadinessSources } from '../http/readiness-parts.js'
import { standbyAnswers } from '../http/standby-answers.js'
import { openQuorumProbe, type QuorumProbe } from '../service-custody/quorum-probe.js'
import type { FollowProgress } from '../store/follow-leader.js'
import { nodeIdOf } from '../store/journal-move.js'
import type { NodeLink } from './node-link.js'
import type { OtherCells } from './other-cells.js'
import { standbyReport } from './standby-report.js'

/** Serves callers while a node waits for the journal. */
interface Standby {
  /**
   * Answers at the port from now on. With a link it forwards to the leader; without one it answers
   * that another node serves.
   */
  begin(progress: () => FollowProgress | null): Promise<void>
  /** Called after each poll of the leader. */
  followed(progress: FollowProgress): void
  /** Whether the process was told to end and only finishes requests under way. */
  isEnding(): boolean
  /** This node leads the journal from now on. */
  end(): void
}

interface StandbyOptions {
  readonly door: FrontDoor
  readonly host: string
  readonly port: number
  /** Null without a node link. */
  readonly link: NodeLink | null
  /** The address by which other nodes know this one. */
  readonly node: string
  readonly clientAddress: ForwardOptions['clientAddress']
  readonly transactionOf: NonNullable<ForwardOptions['transactionOf']>
  /** Forwards requests for other cells' users, whether or not this node leads. */
  readonly cells: Pick<OtherCells, 'elsewhere' | 'drain'>
  /** Whether the worker threads wait only for the journal. */
  readonly areLoaded: () => boolean
  /** The lists that it would screen with. */
  readonly lists: ReadinessSources['lists']
  readonly home: string
  /**
   * The value of COUNTERSIGN_IDENTITY_LINK_FILE; null if the identity provider is reached by its
   * socket.
   */
  readonly identityLinkFile: string | null
}

/** The longest time that an ending process waits for forwarded requests. */
const DRAIN_MS = 10_000

export function createStandby(options: StandbyOptions): Standby {
  const { door, host, port, link, node, cells, areLoaded, lists } = options
  const { clientAddress, transactionOf } = options
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
      // Probes, while this node waits, the quorum signer that would sign with it.
      probe = openQuorumProbe(options.home, userSideOf(options))
      end = endInTurn(() => {
        isEnding = true
        door.stopEarly()
        return Promise.all([link.drain(DRAIN_MS), cells.drain()])
      })
      const forward = link.forward({ report, clientAddress, transactionOf })
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
 * Makes SIGTERM and SIGINT end the process once `drain` has resolved; by default they end it at
 * once.
 * @returns a function that restores the default
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
