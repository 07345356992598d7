import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { RpcCallError } from '../src/chains/rpc/errors.js'
import { attachChainTime } from '../src/clock/chain-time.js'
import { createServiceClock } from '../src/clock/service-clock.js'
import { sleep, systemTimers } from '../src/clock/timers.js'
import { readChainsFile } from '../src/config/chains.js'
import { identityLinkAt } from '../src/config/identity-link.js'
import { createLogger } from '../src/config/logging.js'
import { readSmtpFile } from '../src/config/smtp.js'
import { createStepLines } from '../src/config/step-lines.js'
import { createContractReads } from '../src/defi/contract-reads.js'
import { createErc4626 } from '../src/defi/erc4626.js'
import { createExecutionGas } from '../src/defi/execution-gas.js'
import { createReplan } from '../src/defi/replan.js'
import { createUniswapV3 } from '../src/defi/uniswap-v3.js'
import { ONE_CELL } from '../src/domain/cells.js'
import { createGasBook } from '../src/domain/gas-book.js'
import { ENTROPY_BYTES } from '../src/domain/ids.js'
import { createUserBreakerBook } from '../src/domain/user-breaker-book.js'
import type { JournalLeadership } from '../src/quorum-protocol/service-boot.js'
import { attachLists } from '../src/screening/lists/shared-lists.js'
import { createApprovalPort } from '../src/service-custody/approval-port.js'
import { connectCoSigner } from '../src/service-custody/connect-co-signer.js'
import { tellQuorumReach } from '../src/service-custody/quorum-reach.js'
import { AuditLog } from '../src/store/audit-log.js'
import { attachEventSequence } from '../src/store/event-sequence.js'
import { journaledCommits } from '../src/store/journaled-commits.js'
import { localCommits } from '../src/store/local-commits.js'
import { attachVersions } from '../src/store/versions.js'
import { storedGasOf } from '../src/store/wallet-gas.js'
import { createDeliverer } from '../src/webhooks/deliver.js'
import { createGuardedAgent } from '../src/webhooks/guarded-agent.js'
import { createMailer } from '../src/webhooks/mailer.js'
import { untilEnding } from '../src/webhooks/until-ending.js'
import { createCarriedShares } from '../src/wiring/carried-shares.js'
import { openFreezes } from '../src/wiring/freezes.js'
import { attachMeter } from '../src/wiring/meters.js'
import { type FreezeMirror, mirrorFreeze } from '../src/wiring/mirror-freeze.js'
import { attachPathMeter } from '../src/wiring/path-meter.js'
import { openThreadPorts } from '../src/wiring/thread-ports.js'
import { createAddressRulesShell } from './address-rules/shell.js'
import { CUSTODY_ADDRESS, freezesAddress } from './addresses.js'
import { meterUnconfirmed } from './chain-watcher/meter-unconfirmed.js'
import { createChainWatcherShell } from './chain-watcher/shell.js'
import { carryShares } from './custody/carry-shares.js'
import { followDecisions } from './custody/decisions.js'
import { followMembers } from './custody/follow-members.js'
import { createCustodyShell } from './custody/shell.js'
import { createFreezesShell } from './freezes/shell.js'
import { createGasWalletShell } from './gas-wallet/shell.js'
import { createKeyUseShell } from './key-use/shell.js'
import { createQuotaShell } from './quotas/shell.js'
import { type Envelope, eraseShell } from './runtime/actor.js'
import { Outbox } from './runtime/outbox.js'
import type { EncodedReply, FromWorker, WorkerItem, WorkerStart } from './runtime/protocol.js'
import { workerOf, workerOfPartition } from './runtime/routing.js'
import { ShardHost } from './runtime/shard-host.js'
import { messagesOf } from './runtime/worker-messages.js'
import { createSharePriceShell } from './share-prices/shell.js'
import { decodeCommand } from './sub-wallet/encoded-send.js'
import { followSteps, type StepReader } from './sub-wallet/follow-steps.js'
import type { SubWalletPorts } from './sub-wallet/ports.js'
import { encodeAnswer } from './sub-wallet/send-reply.js'
import { createSubWalletShell } from './sub-wallet/shell.js'
import { createUserBreakersShell } from './user-breakers/shell.js'
import { createAnnouncer } from './webhook-endpoint/announce.js'
import { meterBacklog } from './webhook-endpoint/meter-backlog.js'
import { createDeliveryPace } from './webhook-endpoint/pace.js'
import { createWebhookShell } from './webhook-endpoint/shell.js'

/** Entry of a worker thread: builds the adapters of its actors, and runs them. */
const port = parentPort
if (port === null) throw new Error('this is the entry of a worker thread')
const start = workerData as WorkerStart
const { home, mode, workerIndex, workerCount } = start
const { begins, serveWith } = messagesOf(port)

const log = createLogger({ name: `worker-${workerIndex}`, level: start.logLevel })
const lists = attachLists(start.lists)
const { chains: chainConfigs } = readChainsFile(join(home, 'chains.json'))
const meter = attachMeter(start.meters, 1 + workerIndex)
const path = attachPathMeter(
  start.path,
  1 + workerIndex,
  chainConfigs.map(({ id }) => id),
)
const own = await openThreadPorts({
  home,
  storeDirectory: start.storeDirectory,
  chainConfigs,
  recordVersions: start.recordVersions,
  rulesVersion: start.rulesVersion,
  meter,
  path,
  lists,
  log,
  // The thread waits to begin, and the main thread may restore the store for longer than this one
  // loads.
  half: start.isJournaled ? 'opened' : 'refused',
  // The main thread reports what the checks of chains find.
  registry: null,
})
const { environment, reader, chains, prices, rules, screener, quoter } = own
// A live service does not even load injected faults.
const drills =
  start.environment === 'test' ? await import('./sub-wallet/drills/drilled-shell.js') : null
/** Null until this thread begins; nothing reads it before. */
let leadership: JournalLeadership | null = null
function journalLeadership(): JournalLeadership {
  if (leadership === null) throw new Error('this thread writes to no journal')
  return leadership
}
const coSigner = await connectCoSigner({
  home,
  mode,
  ...(start.identityLinkFile === null ? {} : { userSide: identityLinkAt(start.identityLinkFile) }),
  boot: start.boot,
  leadership: begins.then((begin) => {
    leadership = begin.leadership
    return leadership
  }),
  carriedShares: start.isJournaled
    ? createCarriedShares(reader, journalLeadership, () => commits)
    : null,
  onOpened: () => post({ type: 'loaded' }),
  timers: systemTimers(),
  log,
  meter,
  // The main thread ends the process, and a supervisor restarts it from what is on disk.
  onBroken: () => process.exit(1),
})
const begin = await begins
// Another process may have written to the store in the meantime.
reader.fresh()
const dispatcher = createGuardedAgent({ targets: mode === 'dev' ? 'any' : 'public' })
const timers = systemTimers(
  createServiceClock({ chainTime: attachChainTime(start.chainTime) }).nowMs,
)
const stopTelling = tellQuorumReach(start.quorumReach, workerIndex, coSigner.reach, timers)
const stepLines = createStepLines({
  ...{ logger: log, name: `worker-${workerIndex}`, nowMs: timers.now },
  later: (task, afterMs) => timers.at(timers.now() + afterMs, task),
})
/** Writes steps to the log, and to the traces when those are collected. */
const stepReader: StepReader | null = start.tellsSteps
  ? {
      note(step, chainId, txId, requestId, code) {
        stepLines?.note(step, chainId, txId, requestId, code)
        const report = { step, chainId, txId, requestId, code, atMs: timers.now() }
        outbox.push({ type: 'step', report })
      },
    }
  : stepLines
const headOf = (chainId: number) => chains.get(chainId)?.fees.latest()?.head.number ?? null

const approvals = createApprovalPort(coSigner)
const isCallError = (error: unknown): error is RpcCallError => error instanceof RpcCallError
const contractReads = createContractReads(isCallError)
const replan = createReplan({
  ...{ prices, hasRouter: own.hasRouter },
  swapVenue: createUniswapV3(contractReads),
  vaultVenue: createErc4626(contractReads),
})

const drawEntropy = () => timers.random.bytes(ENTROPY_BYTES)
const sequence = attachEventSequence(
  begin.sequence,
  (partition) => workerOfPartition(partition, workerCount) === workerIndex,
  drawEntropy,
)
/** Resolves the commit that the main thread has; there is one at a time. */
let committed: () => void = () => undefined
function handOver(rows: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    committed = resolve
    post({ type: 'commit', rows })
  })
}
const commits = start.isJournaled
  ? journaledCommits(environment, sequence, handOver, drawEntropy)
  : localCommits(environment, sequence, drawEntropy)
let freezeMirror: FreezeMirror | null = null
const freezes = openFreezes(home, reader, () => freezeMirror?.poll())
const userBreakers = createUserBreakerBook(reader.userBreakers.all())
const auditLog = new AuditLog({ commits, timers, log })

const outbox = new Outbox<WorkerItem | EncodedReply>(timers, (items) =>
  post({ type: 'items', items }),
)
meter.queue('outbox', () => outbox.read())

function post(message: FromWorker): void {
  port?.postMessage(message)
}

function tell(envelope: Envelope): void {
  if (workerOf(envelope, workerCount) === workerIndex) host.deliver(envelope)
  else outbox.push({ type: 'envelope', envelope })
}

const subWalletPorts: SubWalletPorts = {
  ...{ reader, chains, prices, quoter, screener, coSigner, tell, approvals, replan },
  receipts: quoter,
  freezes: freezes.book,
  userBreakers,
  gasBook: createGasBook((userId) => storedGasOf(reader, userId)),
  gasBudgets: start.gasBudgets,
  keyChanged: (secretHash) => outbox.push({ type: 'key-changed', secretHash }),
  versions: attachVersions(start.walletVersions),
  ...{ auditLog, log, timers },
}
const subWallets = followSteps(createSubWalletShell(subWalletPorts), {
  path,
  latency: meter.latency,
  steps: stepReader,
})
const host = new ShardHost({
  commits,
  timers,
  meter,
  log,
  shells: [
    eraseShell(
      drills === null ? subWallets : drills.createDrilledShell(subWallets, subWalletPorts),
    ),
    eraseShell(
      meterUnconfirmed(
        createChainWatcherShell({
          reader,
          chains,
          tell,
          announce(head) {
            prices.onHead(head)
            const { txHashes: _, ...short } = head
            outbox.push({ type: 'head', head: short })
          },
          log,
          timers,
        }),
        path,
      ),
    ),
    eraseShell(
      meterBacklog(
        createWebhookShell({
          reader,
          sequence,
          deliverer: untilEnding(
            createDeliverer({
              dispatcher,
              mailer: start.smtpFile === null ? null : createMailer(readSmtpFile(start.smtpFile)),
            }),
            () => draining,
          ),
          sealedText: coSigner.sealedText,
          pace: createDeliveryPace(start.deliveriesPerSecond, timers),
          log,
          timers,
        }),
        path,
      ),
    ),
    eraseShell(createAddressRulesShell({ reader, rulesChanged: rules.changed })),
    eraseShell(createKeyUseShell()),
    eraseShell(createSharePriceShell()),
    eraseShell(createQuotaShell((userId) => reader.fresh().users.ownedCounts(userId))),
    eraseShell(
      createGasWalletShell({
        reader,
        cell: begin.leadership?.cell.number ?? ONE_CELL.number,
        freezes: freezes.book,
        chains,
        coSigner,
        executionGas: createExecutionGas(isCallError),
        tell,
        log,
        timers,
      }),
    ),
    eraseShell(
      createFreezesShell({
        reader,
        book: freezes.book,
        coSigner,
        changed: (userId, standing) => outbox.push({ type: 'freezes', userId, standing }),
        log,
        timers,
      }),
    ),
    eraseShell(createUserBreakersShell({ reader, book: userBreakers, tell, auditLog })),
    eraseShell(createCustodyShell(coSigner, auditLog, log, timers, approvals)),
  ],
  reply: (token, result) => outbox.push([token, encodeAnswer(result, headOf)]),
  appended: createAnnouncer({ reader, sequence, tell, timers }),
  fatal(error) {
    log.fatal({ err: error }, 'the store refused a commit; starting over')
    throw error
  },
})

/** The interval between two readings of this thread's queues, which the main thread shows. */
const METER_MS = 1_000

function postMeter(): void {
  meter.post()
  path.post()
  timers.at(timers.now() + METER_MS, postMeter)
}
postMeter()

serveWith((message) => {
  if (message.type === 'envelopes') {
    for (const [kind, id, token, carried] of message.envelopes) {
      host.deliver({ kind, id, command: decodeCommand(carried), token })
    }
    return
  }
  if (message.type === 'freezes') {
    const { userId, standing } = message
    // This thread decides for its own users, and so knows more.
    if (workerOf(freezesAddress(userId), workerCount) !== workerIndex) {
      freezes.book.put(userId, standing)
    }
    return
  }
  if (message.type === 'committed') {
    // The main thread wrote the commit, so this thread must read a newer snapshot.
    reader.fresh()
    committed()
    return
  }
  void drain()
})

const DRAIN_STEP_MS = 20
const DRAIN_STEPS_MAX = 250

let draining = false
// One thread polls and notifies the wallets on all threads.
if (workerOf(CUSTODY_ADDRESS, workerCount) === workerIndex) {
  void followDecisions({ approvals, reader, tell, timers, log }, () => draining)
  void followMembers({ coSigner, timers, log }, () => draining)
  if (start.isJournaled) {
    const { shares } = coSigner
    const { journal } = journalLeadership()
    void carryShares({ shares, reader, journal, timers, log }, () => draining)
    freezeMirror = mirrorFreeze({ home, reader, commits, timers, log })
  }
}

async function drain(): Promise<void> {
  draining = true
  stopTelling()
  freezes.close()
  own.stopChecks()
  await freezeMirror?.close()
  for (let step = 0; step < DRAIN_STEPS_MAX && !host.quiet; step++) {
    await sleep(timers, DRAIN_STEP_MS)
  }
  await Promise.allSettled([coSigner.close(), own.close(), dispatcher.close()])
  stepLines?.flush()
  await auditLog.close()
  await environment.root.close()
  post({ type: 'drained' })
}

// Reads must start without the other domains, so the wait for them is bounded.
const QUORUM_WAIT_MS = 15_000
const [, complete] = await Promise.all([prices.warm(), coSigner.whenReady(QUORUM_WAIT_MS)])
if (!complete) log.warn('the quorum is not complete yet; writes wait for it')
post({ type: 'ready' })
