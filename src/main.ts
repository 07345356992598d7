import { join, resolve } from 'node:path'
import { collectDefaultMetrics, Registry } from 'prom-client'
import {
  freezesAddress,
  KEY_USE_ADDRESS,
  SHARE_PRICES_ADDRESS,
  subWalletAddress,
  webhookEndpointAddress,
} from '../actors/addresses.js'
import { openGasWallets } from '../actors/gas-wallet/open-gas-wallets.js'
import { startRetention } from '../actors/retention/start-retention.js'
import { startActors } from '../actors/runtime/actor-client.js'
import type { WorkerStart } from '../actors/runtime/protocol.js'
import { startIdempotencySweep } from '../actors/sub-wallet/sweep-idempotency.js'
import { createApiKeyAuthenticator } from './auth/api-key.js'
import { createKeyUseRecorder } from './auth/key-use.js'
import { createRateLimiter, FAILED_AUTHENTICATION_POLICY, KEY_POLICY } from './auth/rate-limit.js'
import { createUnverifiedTokens } from './auth/unverified-tokens.js'
import { createHeadAges } from './chains/head-ages.js'
import type { ChainHead } from './chains/heads.js'
import { RpcCallError } from './chains/rpc/errors.js'
import { attachChainTime, createChainTimeBuffer, keepChainTime } from './clock/chain-time.js'
import { firstBlock } from './clock/first-block.js'
import { createServiceClock } from './clock/service-clock.js'
import { systemTimers } from './clock/timers.js'
import { readChainsFile } from './config/chains.js'
import { readConfig } from './config/env.js'
import { createLogger } from './config/logging.js'
import { protectedAddressesOf } from './config/protected-addresses.js'
import { oracleListName, sanctionsOracleOf } from './config/sanctions-oracles.js'
import { readSmtpFile } from './config/smtp.js'
import { ownHome } from './custody/home-lock/own-home.js'
import { runUntilStopped } from './custody/process-life.js'
import { createContractReads } from './defi/contract-reads.js'
import { createErc4626 } from './defi/erc4626.js'
import { watchGasBalances } from './defi/gas-balances.js'
import { writeGasWalletsFile } from './defi/gas-wallets-file.js'
import { createQuoteBook } from './defi/quote-book.js'
import { createSharePriceHistory } from './defi/share-price-history.js'
import { createUniswapV3 } from './defi/uniswap-v3.js'
import { watchFreeSpace } from './disk/free-space.js'
import { GAS_WALLETS_PER_CHAIN } from './domain/gas-wallets.js'
import { registerDependencyGauges } from './http/dependency-gauges.js'
import { documentRoutes } from './http/document-routes.js'
import { createHttpMetrics } from './http/metrics.js'
import { listenForMetrics } from './http/metrics-listener.js'
import { descriptorsMax, unreservedDescriptors } from './http/open-files.js'
import { readinessParts } from './http/readiness-parts.js'
import { createHttpServer } from './http/server.js'
import { registerServiceGauges } from './http/service-gauges.js'
import { NO_NATIVE_BUILD } from './http/uws.js'
import { createMcpRoutes } from './mcp/routes.js'
import { createAgentHandlers } from './operations/agent-handlers.js'
import { createAnsweredSends } from './operations/answered-sends.js'
import { createPendingGrants } from './operations/console/pending-grants.js'
import { createConsoleHandlers } from './operations/console-handlers.js'
import { stopConsoleWrites } from './operations/console-writes.js'
import type { OperationPorts } from './operations/ports.js'
import { sampleSharePrices } from './operations/sponsored/markets.js'
import { admitWrites, createWriteAdmission } from './operations/write-admission.js'
import { createListOwner } from './screening/lists/list-owner.js'
import { createRulesVersion } from './screening/prepared-rules.js'
import { followOracles } from './screening/providers/follow-oracles.js'
import { deriveProofKey } from './service-custody/key-proof.js'
import { takenOver } from './service-custody/outcome.js'
import { createQuorumReachBuffer, readQuorumReach } from './service-custody/quorum-reach.js'
import { newServiceBoot } from './service-custody/service-boot-file.js'
import { attachEventSequence, createEventSequenceBuffer } from './store/event-sequence.js'
import { attachVersions, createVersionsBuffer } from './store/versions.js'
import { walletUsersOf } from './store/wallet-users.js'
import { openConsoleTokens } from './wiring/console-tokens.js'
import { openFreezes } from './wiring/freezes.js'
import {
  attachMeter,
  createMeterBuffer,
  registerMeters,
  showLatencies,
  threadNames,
} from './wiring/meters.js'
import { openOracleMirrors } from './wiring/oracle-mirrors.js'
import { attachPathMeter, createPathBuffer, showPath } from './wiring/path-meter.js'
import { openThreadPorts } from './wiring/thread-ports.js'

/**
 * The wallet service: where its adapters are built and joined, but for what every thread has of its
 * own (`wiring/`). The main thread serves HTTP and reads; worker threads run the actors, and they
 * alone write.
 */

/** Between two looks at a sanctions oracle. Public endpoints count calls; development ones do not. */
const ORACLE_POLL_MS = { dev: 1_000, live: 12_000 } as const

/**
 * Requests in flight have 10 s to end (DRAIN_TIMEOUT_MS), then the actors 5 s for what those began,
 * and the stores take a moment. Supervisors wait for longer: systemd's TimeoutStopSec, npm start.
 */
const CLOSE_TIMEOUT_MS = 20_000

const { config, warnings } = readConfig(process.env)
const logger = createLogger({ name: 'service', level: config.logLevel })
for (const warning of warnings) logger.warn(warning)

const home = resolve(config.home)
ownHome(home, 'service')
const boot = newServiceBoot(home, systemTimers())
const dataDirectory = join(home, 'service')
const storeDirectory = join(dataDirectory, 'store')
const { chains: chainConfigs } = readChainsFile(join(home, 'chains.json'))

const recordVersions = createVersionsBuffer()
const rulesVersion = createRulesVersion()
const walletVersions = createVersionsBuffer()

const listsDirectory = join(dataDirectory, 'lists')
const lists = await createListOwner({
  mode: config.mode,
  textListsDirectory: join(home, 'lists'),
  storeDirectory: listsDirectory,
  protectedAddresses: protectedAddressesOf(chainConfigs),
  mirrors: chainConfigs
    .filter((chain) => sanctionsOracleOf(chain, config.mode) !== null)
    .map(({ id }) => oracleListName(id)),
  log: logger,
})

const registry = new Registry()
const meters = createMeterBuffer(1 + config.workers)
const meter = attachMeter(meters, 0)
const chainIds = chainConfigs.map(({ id }) => id)
const pathBuffer = createPathBuffer(1 + config.workers, chainIds)
const path = attachPathMeter(pathBuffer, 0, chainIds)
// For reads and simulations; what is sent is screened and valued by the worker that owns the wallet.
const own = await openThreadPorts({
  ...{ home, storeDirectory, chainConfigs, recordVersions, rulesVersion, lists, registry },
  ...{ meter, path },
  log: logger,
})
const { reader, chains, prices, screener, quoter, hasRouter } = own
// Once the store is there: a first start would find no space where there is no directory.
const disk = await watchFreeSpace({
  path: storeDirectory,
  floorBytes: config.diskFloorBytes,
  log: logger,
})
const writesStopped = () => clock.refusal() ?? disk.refusal()
const sequenceBuffer = createEventSequenceBuffer(reader.events.lastSeqs())
const sequence = attachEventSequence(sequenceBuffer, () => false)
const oracles = followOracles({
  mirrors: openOracleMirrors({ chains, mode: config.mode, listsDirectory, log: logger }),
  pollMs: ORACLE_POLL_MS[config.mode],
  stored: () => lists.refresh(),
  log: logger,
})
const heads = new Map<number, ChainHead>()
const chainTime = createChainTimeBuffer()
const headAges = createHeadAges()
const keepTime = keepChainTime(chainTime)
const clock = createServiceClock({ chainTime: attachChainTime(chainTime) })
const timers = systemTimers(clock.nowMs)

const authenticator = createApiKeyAuthenticator({
  reader: {
    byHash(hash) {
      return reader.fresh().keys.byHash(hash) ?? null
    },
  },
  environment: config.environment,
  deriveProofKey,
  nowMs: clock.latestMs,
})

const freezes = openFreezes(home, reader, (frozen) =>
  logger.warn({ frozen }, frozen === null ? 'signing goes on' : 'nothing new is signed'),
)

const quorumReach = createQuorumReachBuffer(config.workers)
const actors = await startActors({
  entry: new URL('../actors/worker.js', import.meta.url),
  timers,
  meter,
  starts: Array.from(
    { length: config.workers },
    (_, workerIndex): WorkerStart => ({
      workerIndex,
      workerCount: config.workers,
      home,
      mode: config.mode,
      logLevel: config.logLevel,
      storeDirectory,
      deliveriesPerSecond: config.deliveriesPerSecond,
      smtpFile: config.smtpFile,
      sequence: sequenceBuffer,
      rulesVersion,
      recordVersions,
      walletVersions,
      lists: lists.share(),
      chainTime,
      quorumReach,
      meters,
      path: pathBuffer,
      boot,
    }),
  ),
  onKeyChanged: (secretHash) => authenticator.invalidate(secretHash),
  onHead(head) {
    heads.set(head.chainId, head)
    keepTime(head)
    headAges.note(head)
    chains.get(head.chainId)?.fees.onHead(head)
    prices.onHead(head)
  },
  onFreezes: freezes.book.put,
  onWorkerExit(error) {
    // Memory and store may differ now; a supervisor starts the process anew from the store.
    logger.fatal({ err: error }, 'a worker ended')
    process.exit(1)
  },
})

const retention = startRetention(
  {
    storeDirectory,
    recordVersions,
    chainTime,
    retention: config.retention,
    intervalMs: config.retentionIntervalMs,
    logLevel: config.logLevel,
  },
  (error) => logger.error({ err: error }, 'the thread that removes old records ended'),
)

for (const { id } of chainConfigs) {
  actors.tell({ kind: 'chain-watcher', id: String(id), userId: null }, { type: 'start' })
}
for (const endpoint of reader.webhooks.all()) {
  actors.tell(webhookEndpointAddress(endpoint), { type: 'recover', nowMs: clock.nowMs() })
}
const userOf = walletUsersOf(reader)
for (const { userId, custody } of reader.freezes.all()) {
  if (custody === 'pending') actors.tell(freezesAddress(userId), { type: 'load' })
}
for (const subWalletId of reader.grants.walletsWithChanges()) {
  actors.tell(subWalletAddress({ subWalletId, userId: userOf(subWalletId) }), { type: 'load' })
}

const gasWallets = await openGasWallets(actors, chains, timers)
const routerCount = chainConfigs.filter(({ router }) => router !== null).length
if (gasWallets.length < routerCount * GAS_WALLETS_PER_CHAIN) {
  logger.warn({ open: gasWallets.length }, 'not every gas wallet has a key yet')
}
writeGasWalletsFile(home, gasWallets)
for (const subWalletId of reader.gas.sponsoredWallets()) {
  actors.tell(subWalletAddress({ subWalletId, userId: userOf(subWalletId) }), { type: 'load' })
}

const stopSweep = startIdempotencySweep(timers, {
  reader,
  tell: actors.tell,
  borneOutMs: clock.borneOutMs,
})

const isCallError = (error: unknown): error is RpcCallError => error instanceof RpcCallError
const contractReads = createContractReads(isCallError)

const keyUse = createKeyUseRecorder({
  write: (uses) => actors.ask(KEY_USE_ADDRESS, { type: 'keys-used', uses }),
  nowMs: clock.nowMs,
})

const answeredSends = createAnsweredSends(reader)
const ports: OperationPorts = {
  reader: answeredSends.reader,
  answeredSends,
  actors,
  walletVersions: attachVersions(walletVersions),
  chains,
  prices,
  quoter,
  hasRouter,
  screener,
  swapVenue: createUniswapV3(contractReads),
  vaultVenue: createErc4626(contractReads),
  sharePrices: createSharePriceHistory({
    stored: reader.markets.sharePrices(),
    store: (vaultKey, samples) =>
      actors.tell(SHARE_PRICES_ADDRESS, { type: 'share-prices-sampled', vaultKey, samples }),
  }),
  quotes: createQuoteBook(),
  pendingGrants: createPendingGrants(timers),
  environment: config.environment,
  quotas: config.quotas,
  freezes: freezes.book,
  headOf: (chainId) => heads.get(chainId)?.number ?? null,
  readableSeq: sequence.readable,
  keyLastUsedAtMs: (keyId) => keyUse.lastUsedAtMs(keyId) ?? reader.keys.lastUsedAtMs(keyId),
  forgetKey: (secretHash) => authenticator.invalidate(secretHash),
  webhookTargets: config.mode === 'dev' ? 'any' : 'public',
  mail: config.smtpFile === null ? null : readSmtpFile(config.smtpFile),
  timers,
  nowMs: timers.now,
}

const stopSampling = sampleSharePrices(ports)

const consoleTokens = openConsoleTokens(config)
const metrics = createHttpMetrics()
const writes = createWriteAdmission({
  inFlightMax: config.writesInFlightMax,
  nowMs: timers.elapsed,
})
const agent = admitWrites(createAgentHandlers(ports), writes, writesStopped)
const callers = {
  authenticate(header: string) {
    const caller = authenticator.authenticate(header)
    if (caller.ok) keyUse.saw(caller.value.key.keyId)
    return freezes.noted(caller)
  },
  rateLimit: createRateLimiter({
    policy: { ...KEY_POLICY, ...config.rateLimit },
    nowMs: timers.elapsed,
  }),
  failedAuthentications: createRateLimiter({
    policy: FAILED_AUTHENTICATION_POLICY,
    nowMs: timers.elapsed,
  }),
}
const unverifiedTokens = createUnverifiedTokens({ nowMs: timers.elapsed })
const readiness = readinessParts({
  quorum: () => readQuorumReach(quorumReach),
  readStore: () => reader.events.lastSeqs(),
  lists: () => lists.status(),
  prices: () => prices.readings(),
  chains: () =>
    chainConfigs.map(({ id, name, block_time_ms: blockTimeMs }) => ({
      ...{ chainId: id, name, blockTimeMs },
      head: headAges.of(id),
    })),
  clock,
  disk,
})
const server = createHttpServer({
  ...callers,
  refusesWrite: (keyId) => writes.refuses(keyId),
  agent,
  console: stopConsoleWrites(
    createConsoleHandlers(ports),
    {
      everything: () => (readQuorumReach(quorumReach).fenced ? takenOver('fenced') : null),
      whatWrites: disk.refusal,
      whatGives: clock.refusal,
    },
    reader,
  ),
  unverifiedTokens,
  remembersConsole: consoleTokens.remembers,
  verifyConsole: consoleTokens.verify,
  logger,
  metrics,
  extraRoutes: [
    ...createMcpRoutes({
      ...callers,
      agent,
      logger,
      ...(config.publicHosts === null ? {} : { allowedHosts: config.publicHosts }),
    }),
    ...documentRoutes(),
  ],
  inFlightMax: config.inFlightMax,
  adapter: config.httpAdapter,
  descriptorsMax: unreservedDescriptors(descriptorsMax()),
  readiness,
})

collectDefaultMetrics({ register: registry })
registerMeters(registry, meters, threadNames(config.workers), meter.post)
registerServiceGauges(registry, {
  lists: () => lists.status().lists,
  heads: () => heads.values(),
  parts: readiness,
  callersWaiting: () => actors.waiting,
  requestsInFlight: () => server.inFlight,
  adapter: server.adapter,
  writes: () => writes,
})
registerDependencyGauges(registry, {
  prices: () => prices.readings(),
  quorum: () => readQuorumReach(quorumReach),
  freezes: freezes.book.counts,
  disk,
})
const gasBalances = watchGasBalances({ chains, wallets: gasWallets, registry, log: logger })
const metricsListener =
  config.metricsPort === null
    ? null
    : await listenForMetrics({
        host: config.host,
        port: config.metricsPort,
        registry,
        expositions: [
          metrics.render,
          showLatencies(meters),
          showPath(pathBuffer, chainIds, clock.nowMs),
        ],
        logger,
        adapter: config.httpAdapter,
        descriptorsMax: unreservedDescriptors(descriptorsMax()),
      })

await firstBlock(clock)
const port = await server.listen(config.host, config.port)
const { adapter } = server
if (adapter === 'node:http' && config.httpAdapter === 'auto') {
  logger.warn(`${NO_NATIVE_BUILD}: node:http serves instead`)
}
logger.info({ host: config.host, port, mode: config.mode, adapter }, 'the wallet service listens')

runUntilStopped('service', CLOSE_TIMEOUT_MS, async () => {
  gasBalances.close()
  freezes.close()
  own.stopChecks()
  stopSampling()
  disk.close()
  metricsListener?.close()
  const givenUp = await server.close()
  if (givenUp > 0) logger.warn({ givenUp }, 'requests were given up at shutdown')
  stopSweep()
  await keyUse.close()
  await retention.close()
  await actors.close()
  authenticator.clear()
  await oracles.close()
  await own.close()
  lists.close()
  await own.environment.root.close()
})
