import type { Logger } from 'pino'
import type { Alarm, Timers } from '../clock/timers.js'
import { laneStart } from '../quorum-protocol/batch.js'
import {
  connectSocket,
  type SocketClient,
  type SocketClientOptions,
  Unanswered,
} from '../quorum-protocol/client.js'
import type { Endpoint } from '../quorum-protocol/endpoint.js'
import { askQuorumSigner, askUserSide } from '../quorum-protocol/methods/ask.js'
import type { P256Signer } from '../quorum-protocol/p256.js'
import { offerSession, openBoot } from '../quorum-protocol/quorum-session.js'
import { Refusal } from '../quorum-protocol/refusal.js'
import type { RegistryHolder } from '../quorum-protocol/registry-holder.js'
import { createSealer, type ShareSealer } from '../quorum-protocol/sealed-shares.js'
import { announceStart, type JournalLeadership } from '../quorum-protocol/service-boot.js'

/**
 * Connections to both other domains and the sessions between them. A restart of either domain ends
 * the sessions; the link then creates new ones by itself.
 */
export interface QuorumLink {
  /** The current sessions; null while it has no session. */
  readonly session: QuorumLinkSession | null
  readonly userSide: SocketClient
  readonly quorum: SocketClient
  /** True once a service that started later has taken over. It never becomes false again. */
  readonly fenced: boolean
  /** Drops the sessions and creates new ones, after an answer that they are no longer valid. */
  renew(): void
  /** Resolves true once there are sessions, false when the time runs out first. */
  whenReady(timeoutMs: number): Promise<boolean>
  close(): void
}

export interface QuorumLinkSession {
  /** Seals this domain's shares for the quorum signer's current boot. */
  readonly sealer: ShareSealer
  /** The sequence below the first batch of this session's lane. */
  readonly batchFloor: number
}

interface QuorumLinkOptions {
  readonly userSide: Endpoint
  readonly quorumSocket: string
  /** Opens a client; the default connects to endpoints. */
  readonly connect?: (options: SocketClientOptions) => SocketClient
  readonly registry: RegistryHolder
  readonly signer: P256Signer
  /** Awaited before the service announces itself, because a rotation may have replaced its key. */
  readonly renewSigner?: () => Promise<void>
  /** 16 bytes that identify this start of the service. */
  readonly boot: Uint8Array
  /** Set when the service's commits go to a journal. */
  readonly leadership?: JournalLeadership | null
  readonly timers: Pick<Timers, 'now' | 'at'>
  readonly log: Pick<Logger, 'info' | 'warn' | 'error' | 'fatal'>
  /** The highest batch sequence that the identity provider is known to have approved. */
  readonly approvedFloor: () => number
  /** Called when the sessions are lost. */
  readonly onLost: () => void
}

interface Greeting {
  /** The sequence below the first batch of the lane that the identity provider assigned. */
  readonly batchFloor: number
}

/** The pause between attempts to create sessions while both connections are up. */
const RETRY_MS = 100

export function linkQuorum(options: QuorumLinkOptions): QuorumLink {
  const { registry, signer, timers, log, connect = connectSocket } = options
  const waiters = new Set<() => void>()
  let session: QuorumLinkSession | null = null
  /** Counts lost and new connections. Sessions whose creation spans such a change are void. */
  let generation = 0
  let establishing = false
  let closed = false
  let fenced = false
  /** The identity provider's answer to `hello`, until sessions are made from it or it is void. */
  let greeting: Greeting | null = null
  let retry: Alarm | null = null
  let told: string | null = null
  let toldNoSession: string | null = null

  function renew(): void {
    // The service announces itself again: the earlier `hello` used another connection or an older
    // registry.
    greeting = null
    changed()
  }

  function changed(): void {
    generation++
    if (session !== null) {
      session = null
      log.warn('the quorum is incomplete: writes stop')
      options.onLost()
    }
    void establish()
  }

  /** Logs each reason once, however many attempts it takes until the quorum is complete. */
  function tellWhy(reason: string): void {
    if (reason === told) return
    told = reason
    log.warn({ reason }, 'the identity provider cannot be reached over its link')
  }

  /** Logs each reason once: attempts come ten times a second until an operator fixes the cause. */
  function tellNoSession(error: unknown): void {
    const reason = String(error)
    if (reason === toldNoSession) return
    toldNoSession = reason
    log.error({ err: error }, 'no quorum session')
  }

  const userSide = connect({
    endpoint: options.userSide,
    peer: 'identity provider',
    onConnect: renew,
    onDisconnect: renew,
    // A missing socket means that the process is not running; that process logs the reason itself.
    ...('path' in options.userSide ? {} : { onUnanswered: tellWhy }),
  })
  const quorum = connect({
    endpoint: { path: options.quorumSocket },
    peer: 'quorum signer',
    onConnect: changed,
    onDisconnect: changed,
  })

  async function establish(): Promise<void> {
    if (establishing || closed || fenced || !userSide.connected) return
    // `hello` goes to the identity provider first, which accepts revocations without the signer.
    if (greeting !== null && !quorum.connected) return
    establishing = true
    const started = generation
    try {
      const greeted = greeting ?? (await greet())
      if (started === generation) greeting = greeted
      const made = await makeSessions(greeted)
      if (started === generation) {
        greeting = null
        session = made
        told = null
        toldNoSession = null
        log.info('the quorum is complete')
        for (const wake of waiters) wake()
      }
    } catch (error) {
      if (error instanceof Refusal && error.code === 'FENCED') stop()
      else if (!(error instanceof Unanswered)) tellNoSession(error)
    } finally {
      establishing = false
    }
    if (session === null && !closed && !fenced && retry === null) {
      retry = timers.at(timers.now() + RETRY_MS, () => {
        retry = null
        void establish()
      })
    }
  }

  /** Restarting would fence the other service in turn, so a person has to choose between them. */
  function stop(): void {
    fenced = true
    log.fatal(
      'this service no longer signs: a wallet service that started later, on a copy of this home or on a file system without locks, has taken over. Stop one of the two; if this is the one to keep, restart it.',
    )
  }

  async function greet(): Promise<Greeting> {
    await options.renewSigner?.()
    const { body, signature } = registry.current.envelope
    const lastApproved = options.approvedFloor()
    const { boot, leadership = null } = options
    const statement = await announceStart({ boot, leadership }, signer)
    const { lane, remembered } = await askUserSide(userSide, 'hello', {
      registryBody: body,
      registrySignature: signature,
      lastApproved,
      statement,
    })
    // The identity provider records each batch before its approval leaves. If it lost one, it was
    // restored from an older backup and does not know which nonces it approved.
    if (remembered < lastApproved || laneStart(lane) <= lastApproved) {
      throw new Refusal('CONFLICT', 'the user side was restored and not fenced forward')
    }
    return { batchFloor: laneStart(lane) }
  }

  async function makeSessions({ batchFloor }: Greeting): Promise<QuorumLinkSession> {
    const { body, signature } = registry.current.envelope
    await askQuorumSigner(quorum, 'registry', { body, signature })
    const quorumBoot = await askQuorumSigner(quorum, 'boot', {})
    const boot = openBoot(quorumBoot, registry.current, timers.now())
    const offer = await askUserSide(userSide, 'session', { quorumBoot })
    await askQuorumSigner(quorum, 'session', { offer })
    const own = await offerSession(boot, 'service', signer)
    await askQuorumSigner(quorum, 'session', { offer: own.offer })
    return { sealer: createSealer(own.session), batchFloor }
  }

  return {
    get session() {
      return session
    },
    get fenced() {
      return fenced
    },
    userSide,
    quorum,
    renew,
    whenReady(timeoutMs) {
      if (session !== null) return Promise.resolve(true)
      return new Promise((resolve) => {
        const done = (ready: boolean) => () => {
          alarm.cancel()
          waiters.delete(wake)
          resolve(ready)
        }
        const wake = done(true)
        const alarm = timers.at(timers.now() + timeoutMs, done(false))
        waiters.add(wake)
      })
    },
    close() {
      closed = true
      session = null
      retry?.cancel()
      userSide.close()
      quorum.close()
    },
  }
}
