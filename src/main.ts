import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Registry } from 'prom-client'
import { KEY_USE_ADDRESS } from '../actors/addresses.js'
import { RETENTION_INTERVAL_MS, startRetention } from '../actors/retention/start-retention.js'
import { startActors } from '../actors/runtime/actor-client.js'
import type { WorkerStart } from '../actors/runtime/protocol.js'
import { startWorkerThreads } from '../actors/runtime/worker-threads.js'
import { makeSnapshotAside } from '../actors/snapshots/snapshot-thread.js'
import { startDelegationSweep } from '../actors/sub-wallet/sweep-delegations.js'
import { startIdempotencySweep } from '../actors/sub-wallet/sweep-idempotency.js'
import { attachChainTime } from './clock/chain-time.js'
import { firstBlock } from './clock/first-block.js'
import { createServiceClock } from './clock/service-clock.js'
import { systemTimers } from './clock/timers.js'
import { readChainsFile } from './config/chains.js'
import { readConfig } from './config/env.js'
import { createLogger } from './config/logging.js'
import { nodeName } from './config/node-link.js'
import { serviceLayout } from './custody/domain-keys/layout.js'
import { openEvidenceReader } from './custody/evidence/evidence-log.js'
import { findApproval } from './custody/evidence/find-approvals.js'
import { openServiceMembers } from './custody/members/service-members.js'
import { runUntilStopped } from './custody/process-life.js'
import { watchGasBalances } from './defi/gas-balances.js'
import { watchFreeSpace } from './disk/free-space.js'
import { readLastBackup } from './disk/last-backup.js'
import { CONSOLE_AUDIENCE } from './domain/console-audience.js'
import { consolePages } from './http/console-pages.js'
import { documentRoutes } from './http/document-routes.js'
import { createHttpMetrics } from './http/metrics.js'
import { descriptorsMax, unreservedDescriptors } from './http/open-files.js'
import { readinessParts } from './http/readiness-parts.js'
import { createHttpServer, openFrontDoor } from './http/server.js'
import { NO_NATIVE_BUILD } from './http/uws.js'
import { createMcpRoutes } from './mcp/routes.js'
import { createAgentHandlers } from './operations/agent-handlers.js'
import { createConsoleHandlers } from './operations/console-handlers.js'
import { stopConsoleWrites } from './operations/console-writes.js'
import type { AgentHandlers } from './operations/context.js'
import { sampleSharePrices } from './operations/sponsored/markets.js'
import {
  admitWrites,
  createWriteAdmission,
  WRITES_IN_FLIGHT_MAX,
} from './operations/write-admission.js'
import { followOracles } from './screening/providers/follow-oracles.js'
import { callerAddress } from './service/caller-address.js'
import { openCallers } from './service/callers.js'
import { followHeads } from './service/chain-heads.js'
import { checkHome } from './service/check-home.js'
import { keepGasWallets } from './service/keep-gas-wallets.js'
import { findKnownCall } from './service/known-call.js'
import { openNodeLink } from './service/node-link.js'
import { openServiceJournal } from './service/open-journal.js'
import { openLists } from './service/open-lists.js'
import { openOperationPorts } from './service/operation-ports.js'
import { openOtherCells } from './service/other-cells.js'
import { createSharedMemory } from './service/shared-memory.js'
import { showMetrics } from './service/show-metrics.js'
import { createStandby } from './service/standby.js'
import { takeHome, watchForSuccessor } from './service/take-home.js'
import { openTraces } from './service/traces.js'
import { wakeActors } from './service/wake-actors.js'
import { ownWritesStop, watchWriteStops } from './service/write-stops.js'
import { takenOver } from './service-custody/outcome.js'
import { readQuorumReach } from './service-custody/quorum-reach.js'
import { keepServiceBoot, newServiceBoot } from './service-custody/service-boot-file.js'
import { attachEventSequence, createEventSequenceBuffer } from './store/event-sequence.js'
import { rowsScanned } from './store/rows-scanned.js'
import { attachVersions } from './store/versions.js'
import { openConsoleTokens } from './wiring/console-tokens.js'
import { openFreezes } from './wiring/freezes.js'
import { attachMeter, readQueues } from './wiring/meters.js'
import { openOracleMirrors } from './wiring/oracle-mirrors.js'
import { attachPathMeter, readBacklogs, readDoubtedEndpoints } from './wiring/path-meter.js'
import { openThreadPorts } from './wiring/thread-ports.js'

/**
 * The wallet service, in the order of its start: what it is told, what its threads share, what this
 * one reads with, the clock, the actors, who calls, what is done for them, HTTP. Parts of this
 * thread are built in `service/`, what every thread has in `wiring/`. The main thread serves HTTP
 * and reads; worker threads run the actors, and they alone write.
 */

/** Between two polls of a sanctions oracle. Public endpoints count calls; development ones do not. */
const ORACLE_POLL_MS = { dev: 1_000, live: 12_000 } as const

/**
 * Requests in flight have 10 s to end (DRAIN_TIMEOUT_MS), then the actors 5 s for what those began,
 * and the stores take a moment. Supervisors wait for longer: systemd's TimeoutStopSec, npm start.
 */
const CLOSE_TIMEOUT_MS = 20_000

const { config, warnings } = readConfig(process.env)
const logger = createLogger({ name: 'service', level: config.logLevel })
for (const warning of warnings) logger.warn(warning)
const { mode, environment, logLevel, deliveriesPerSecond, smtpFile, identityLinkFile } = config
const { gasBudgets } = config
const home = resolve(config.home)
const { chains: chainConfigs } = readChainsFile(join(home, 'chains.json'))
const door = openFrontDoor({ descriptorsMax: unreservedDescriptors(descriptorsMax()) }, logger)
const hasSuccessor = watchForSuccessor()
await checkHome(home, config)
await takeHome(home, door, config)
const boot = newServiceBoot(systemTimers())
const storeDirectory = join(home, 'service', 'store')
const chainIds = chainConfigs.map(({ id }) => id)

const shared = createSharedMemory(config.workers, chainIds)
const { recordVersions, rulesVersion, chainTime } = shared
const quorum = () => readQuorumReach(shared.quorumReach)
const registry = new Registry()
const meter = attachMeter(shared.meters, 0)

const listsDirectory = join(home, 'service', 'lists')
const lists = await openLists(home, listsDirectory, { mode, chainConfigs, log: logger })
// For reads and simulations; what is sent is screened and valued by the worker that owns the wallet.
const own = await openThreadPorts({
  ...{ home, storeDirectory, chainConfigs, recordVersions, rulesVersion, lists, registry, meter },
  path: attachPathMeter(shared.path, 0, chainIds),
  half: config.journalFile === null ? 'refused' : 'opened',
  log: logger,
})
const { reader, chains, prices } = own
let leaveJournal = async (): Promise<void> => undefined
function workerEnded(err: unknown): void {
  // Memory and store may differ now; a supervisor starts the process again from the store.
  logger.fatal({ err }, 'a worker ended')
  void leaveJournal().finally(() => process.exit(1))
}
const threads = startWorkerThreads({
  entry: new URL('../actors/worker.js', import.meta.url),
  starts: Array.from(
    { length: config.workers },
    (_, workerIndex): WorkerStart => ({
      ...{ workerIndex, workerCount: config.workers, home, mode, storeDirectory, boot },
      ...{ environment, logLevel, deliveriesPerSecond, gasBudgets, smtpFile, identityLinkFile },
      isJournaled: config.journalFile !== null,
      tellsSteps: config.otelEndpoint !== null,
      ...shared,
      lists: lists.share(),
    }),
  ),
  onExit: workerEnded,
})
// Files of this home, not of the store: a standby follows them too, so that it screens at once when
// it takes over.
const oracles = followOracles({
  mirrors: openOracleMirrors({ chains, mode, listsDirectory, log: logger }),
  pollMs: ORACLE_POLL_MS[mode],
  stored: () => lists.refresh(),
  log: logger,
})
// What takes long and needs no store is made while a standby waits.
const pages = [
  ...documentRoutes(),
  ...consolePages({
    folder: fileURLToPath(new URL('./console/', import.meta.url)),
    issuer: config.identityIssuer,
    audience: CONSOLE_AUDIENCE,
  }),
]
// Faults that callers ask for are no part of a live service: it does not even load them.
const loadedDrills = environment === 'test' ? await import('./service/drills.js') : null
const clientAddress = callerAddress(config.trustedProxies, logger)
const link = config.nodeLinkFile === null ? null : await openNodeLink(config.nodeLinkFile, logger)
const cells = await openOtherCells({ ...config, clientAddress, log: logger })
const node = nodeName(`${hostname()}:${config.port}`, link?.address ?? null)
const standby = createStandby({
  ...{ door, host: config.host, port: config.port, link, node, clientAddress, cells },
  ...{ home, identityLinkFile },
  transactionOf: (headers) => findKnownCall(reader, headers),
  lists: () => lists.status(),
  areLoaded: () => threads.areLoaded,
})
// Once the store is there: a first start would find no space where there is no directory.
const disk = await watchFreeSpace({
  path: storeDirectory,
  floorBytes: config.diskFloorBytes,
  log: logger,
})
// Before anything is read: the store may be behind, and another service may still write the journal.
const journal = await openServiceJournal({
  ...{ home, file: config.journalFile, role: config.journalRole, registry, hasSuccessor },
  ...{ node, mode, link, reach: quorum },
  environment: own.environment,
  tailBytesMax: config.journalTailBytes,
  makeSnapshot: (start, stopping) =>
    makeSnapshotAside({ ...start, storeDirectory, logLevel }, stopping),
  watchWriteStops: () => watchWriteStops({ chains, disk, lists }),
  ...{ waits: standby.begin, followed: standby.followed, isEnding: standby.isEnding },
  ...{ timers: systemTimers(), log: logger },
})
if (journal !== null) leaveJournal = journal.leave
standby.end()
keepServiceBoot(home, boot)
reader.fresh()
const sequenceBuffer = createEventSequenceBuffer(reader.events.lastSeqs())
const sequence = attachEventSequence(sequenceBuffer, () => false)

const heads = followHeads(chainTime, chains, prices)
const clock = createServiceClock({ chainTime: attachChainTime(chainTime) })
const timers = systemTimers(clock.nowMs)

const freezes = openFreezes(home, reader, (frozen) =>
  logger.warn({ frozen }, frozen === null ? 'signing goes on' : 'nothing new is signed'),
)
const callers = openCallers({
  ...{ reader, config, cell: cells.own, freezes, clock, timers },
  recordUses: (uses) => actors.ask(KEY_USE_ADDRESS, { type: 'keys-used', uses }),
})

const traces = openTraces(config.otelEndpoint, logger, clock.nowMs)
const actors = await startActors({
  threads,
  begin: { sequence: sequenceBuffer, leadership: journal?.leadership ?? null },
  timers,
  meter,
  onKeyChanged: callers.forgetKey,
  onHead: heads.onHead,
  onFreezes: freezes.book.put,
  ...(traces === null ? {} : { onStep: traces.step }),
  ...(journal === null
    ? {}
    : { onCommit: journal.commit, isHeldUp: () => journal.refusal() !== null }),
  onFatal: workerEnded,
})
const gasWallets = await wakeActors({ actors, reader, chains, timers })
keepGasWallets(home, chainConfigs, gasWallets, logger)
const sweeps = { reader, tell: actors.tell, verifiedNowMs: clock.verifiedNowMs }
const stopSweep = startIdempotencySweep(timers, sweeps)
const stopUndelegating = startDelegationSweep(timers, sweeps, config.undelegateAfterMs)

const gasBalances = watchGasBalances({
  ...{ chains, wallets: gasWallets, registry, log: logger },
  nowMs: timers.now,
})
const backlogs = readBacklogs(shared.path, chainIds)
const doubtedEndpoints = readDoubtedEndpoints(shared.path, chainIds)
const writes = createWriteAdmission({
  inFlightMax: WRITES_IN_FLIGHT_MAX,
  nowMs: timers.elapsed,
})
const members = openServiceMembers(serviceLayout(home).ledger)
// The workers write it: by now there is one.
const evidence = openEvidenceReader(serviceLayout(home).evidence)
const ports = openOperationPorts(
  {
    ...{ actors, chains, prices, reader, timers },
    quoter: own.quoter,
    hasRouter: own.hasRouter,
    screener: own.screener,
    screeningLists: lists,
    walletVersions: attachVersions(shared.walletVersions),
    freezes: freezes.book,
    members,
    recordedApproval: (sought) => findApproval(evidence, sought),
    headOf: heads.numberOf,
    readableSeq: sequence.readable,
    keyLastUsedAtMs: callers.lastUsedAtMs,
    forgetKey: callers.forgetKey,
    figures: {
      lanes: backlogs.unconfirmed,
      webhooks: backlogs.webhooks,
      gasWallets: gasBalances.readings,
      queues() {
        meter.post()
        return readQueues(shared.meters)
      },
      ...{ writes: () => writes, disk, logLevel },
      lastBackup: () => readLastBackup(home),
      readiness: () => server.readiness(),
    },
  },
  config,
)
const stopSampling = sampleSharePrices(ports)
const storeRefusal = () => disk.refusal() ?? journal?.refusal() ?? null
const writesStopped = () => clock.refusal() ?? storeRefusal()
function around(handlers: AgentHandlers): AgentHandlers {
  const admitted = admitWrites(handlers, writes, writesStopped)
  return traces?.around(admitted) ?? admitted
}
const agent = around(createAgentHandlers(ports))
const drills =
  loadedDrills === null ? {} : { drilled: loadedDrills.createDrilledHandlers(ports, around) }
const consoleHandlers = stopConsoleWrites(
  createConsoleHandlers(ports),
  {
    everything: () => (quorum().fenced ? takenOver('fenced') : null),
    whatWrites: storeRefusal,
    whatGives: clock.refusal,
  },
  reader,
)

const metrics = createHttpMetrics()
const readiness = readinessParts({
  quorum,
  readStore: () => reader.events.lastSeqs(),
  lists: () => lists.status(),
  prices: () => prices.readings(),
  chains: () =>
    chainConfigs.map(({ id, name, block_time_ms: blockTimeMs, rpc_urls: urls }) => ({
      ...{ chainId: id, name, blockTimeMs, endpoints: urls.length },
      doubtedEndpoints: doubtedEndpoints(id),
      head: heads.ageOf(id),
    })),
  clock,
  disk,
  journal,
})
const consoleTokens = openConsoleTokens(config, members, cells.own)
const server = createHttpServer({
  ...callers.byKey,
  refusesWrite: writes.refuses,
  ...{ agent, console: consoleHandlers, logger, metrics, readiness },
  unverifiedTokens: callers.unverifiedTokens,
  elsewhere: cells.elsewhere,
  clientAddress,
  ...(traces === null ? {} : { traces }),
  remembersConsole: consoleTokens.remembers,
  verifyConsole: consoleTokens.verify,
  isMember: consoleTokens.isMember,
  readableSeq: sequence.readable,
  rowsScanned,
  ...drills,
  extraRoutes: [
    ...createMcpRoutes({
      ...callers.byKey,
      agent,
      logger,
      subKeyTool: config.mcpSubKeys,
      ...drills,
      ...(traces === null ? {} : { traces }),
      ...(config.publicHosts === null ? {} : { allowedHosts: config.publicHosts }),
    }),
    ...pages,
  ],
  door,
})
const { adapter } = server
const metricsListener = await showMetrics(config, {
  ...{ registry, meter, meters: shared.meters, path: shared.path, chainIds, logger },
  requests: metrics,
  readiness: server.readiness,
  gauges: {
    lists: () => lists.status().lists,
    heads: () => heads.newest.values(),
    parts: readiness,
    callersWaiting: () => actors.waiting,
    requestsInFlight: () => server.inFlight,
    adapter,
    writes: () => writes,
    prices: () => prices.readings(),
    quorum,
    freezes: freezes.book.counts,
    disk,
  },
  nowMs: clock.nowMs,
})

await firstBlock(clock)
link?.serve(server)
const port = await server.listen(config.host, config.port)
if (adapter === 'node:http') logger.warn(`${NO_NATIVE_BUILD}: node:http serves instead`)
logger.info({ host: config.host, port, mode, adapter }, 'the wallet service listens')
journal?.serves(() => ownWritesStop({ disk, clock, lists }))
// A thread more to load, which callers need not wait for.
const retention = startRetention(
  {
    ...{ storeDirectory, recordVersions, chainTime },
    retention: config.retention,
    intervalMs: RETENTION_INTERVAL_MS,
    logLevel: config.logLevel,
  },
  (error) => logger.error({ err: error }, 'the thread that removes old records ended'),
)

runUntilStopped('service', CLOSE_TIMEOUT_MS, async () => {
  gasBalances.close()
  freezes.close()
  own.stopChecks()
  stopSampling()
  disk.close()
  metricsListener?.close()
  link?.stopListening()
  // What is passed on is not counted there: it may begin for as long as this service answers.
  void cells.drain()
  const givenUp = await server.close()
  await cells.drain()
  if (givenUp > 0) logger.warn({ givenUp }, 'requests were given up at shutdown')
  stopSweep()
  stopUndelegating()
  await link?.close()
  const cellsClosed = cells.close()
  await callers.close()
  await retention.close()
  await actors.close()
  await journal?.close()
  await cellsClosed
  await traces?.close()
  callers.clear()
  await members.close()
  await evidence.close()
  await oracles.close()
  await own.close()
  lists.close()
  await own.environment.root.close()
})
