import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { join, sep } from 'node:path'
import {
  type DomainName,
  quorumLayout,
  serviceLayout,
  userSideLayout,
} from '../../custody/domain-keys/layout.js'
import {
  noteUnfenced,
  pendingBackupRestorePath,
} from '../../custody/domain-keys/pending-restore.js'
import { writePrivateFile } from '../../custody/domain-keys/private-file.js'
import { lockStopped } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { bringFreeze, freezeInstance, instanceFreezePath } from '../../custody/instance-freeze.js'
import { evidenceIn } from '../../custody-tools/maintenance/audit-home.js'
import { rootOf } from '../../custody-tools/maintenance/backup-domain.js'
import { checkDomain } from '../../custody-tools/maintenance/check-domain.js'
import {
  type FencedUserSide,
  fenceUserSide,
} from '../../custody-tools/maintenance/fence-user-side.js'
import { CLOCK_ERROR_MAX_MS } from '../../domain/clock.js'
import { bringCarriedFreeze } from '../../identity-provider/journal/carry-freeze.js'
import { leaveJournal, positionIn } from '../../identity-provider/journal/stores.js'
import { endSessions } from '../../identity-provider/login/end-sessions.js'
import { carriedFreezeOf } from '../../store/carried-freeze.js'
import { openEnvironment } from '../../store/environment.js'
import { isOpened, SCHEMA_VERSION } from '../../store/key-spaces.js'
import { createReader } from '../../store/reader.js'
import { UsageError } from '../exit-codes.js'
import { type FencedStore, fenceStore } from './fence-store.js'
import { type FileRecord, type Manifest, type PartRecord, readManifest } from './manifest.js'
import { directoryOf, filesOf, PARTS, type PartName, requireOwnUser } from './parts.js'
import {
  closeToOthers,
  copyDurably,
  isBroughtAlong,
  type Places,
  putCommonFiles,
  putDomainFiles,
  removeDomainFiles,
} from './put-files.js'
import { readSinceBackup } from './since-backup.js'

export interface RestoreOptions extends Places {
  /** Null: all that the backup has. */
  readonly parts: readonly PartName[] | null
  /**
   * Of the other domain, where it outlived: its evidence, or a copy that is later than all it
   * signed. The service is fenced by the identity provider's, and the other way round.
   */
  readonly serviceLogs: readonly string[]
  readonly userLog: string | null
  /** `all`: no log of after the backup is left anywhere, so nobody knows what happened then. */
  readonly lost: 'one-domain' | 'all'
  readonly progress: (sentence: string) => void
}

export interface RestoredPart {
  readonly part: PartName
  readonly files: number
  /** Files of the home that are others than the backup's, and stayed. */
  readonly kept: readonly string[]
  /** Whose shares fit their certificates; null of parts that hold none. */
  readonly wallets: number | null
  readonly fenced: FencedStore | FencedUserSide | null
  /** Signs nothing until the operator lifts it. */
  readonly frozen: boolean
  /** It does not start before `custody fence`. */
  readonly unfenced: boolean
}

type ShareHolder = 'service' | 'user'

/**
 * Puts a backup into an empty home, each part as its own user and with its process stopped. A note
 * keeps the domain from starting until all of it is there, its shares fit and its stores are fenced;
 * a part whose restore was interrupted is restored by the same command, without those that are whole.
 * @throws Error that names the file, the reason and the way out
 */
export async function restoreBackup(options: RestoreOptions): Promise<readonly RestoredPart[]> {
  const { home, from, progress } = options
  const manifest = readManifest(from)
  if (!isOpened(manifest.schema_version)) {
    throw new Error(
      `${from} was made by version ${manifest.version} with schema ${manifest.schema_version}, and this build reads ${SCHEMA_VERSION} alone: restore it with that version`,
    )
  }
  const parts = chosenParts(options, manifest)
  refuseUnfitLogs(options)
  // All that can be said before anything is written.
  for (const part of parts) {
    requireOwnUser(home, part.name, ', or with --part for what is yours')
    requireEmpty(home, part.name)
    requireKeys(home, part)
  }
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const restored: RestoredPart[] = []
  for (const part of parts) {
    progress(`${part.name}: restoring`)
    const files = manifest.files.filter((file) => file.part === part.name)
    restored.push(await restorePart(options, part, files))
  }
  return restored
}

/** What is common first: fences read the registry. */
function chosenParts({ from, parts }: RestoreOptions, manifest: Manifest): PartRecord[] {
  for (const part of parts ?? []) {
    if (!manifest.parts.some(({ name }) => name === part)) {
      throw new UsageError(`${from} has nothing of the part ${part}`)
    }
  }
  const order: readonly PartName[] = ['config', ...PARTS.filter((part) => part !== 'config')]
  return order
    .filter((part) => parts === null || parts.includes(part))
    .flatMap((part) => manifest.parts.filter(({ name }) => name === part))
}

/** There must be one; and one of the backup's own time knows nothing of what came after. */
function refuseUnfitLogs({ from, serviceLogs, userLog }: RestoreOptions): void {
  const inside = `${realpathSync(from)}${sep}`
  for (const log of [...serviceLogs, ...(userLog === null ? [] : [userLog])]) {
    if (!existsSync(log)) throw new UsageError(`${log} does not exist`)
    if (`${realpathSync(log)}${sep}`.startsWith(inside)) {
      throw new UsageError(
        `${log} is of the backup itself and knows nothing of what came after it: where no later log is left, say --nothing-outlived`,
      )
    }
    evidenceIn(log)
  }
}

function requireEmpty(home: string, part: PartName): void {
  if (part === 'config' || hasBegun(home, part)) return
  const [there] = filesOf(home, part).filter(({ path }) => !isBroughtAlong(path))
  if (there === undefined) return
  throw new UsageError(
    `${join(home, there.path)} exists, and a backup goes into an empty home alone: where this part has been restored already, say --part with the others; else move ${directoryOf(home, part)} aside, or put back one domain's custody with countersign custody restore`,
  )
}

/** @throws UsageError that names the private keys that nobody has brought */
function requireKeys(home: string, { name, root, keys_left_out }: PartRecord): void {
  if (name === 'config') return
  // Those of the login are made anew: everybody signs in again.
  const needed = keys_left_out.filter((path) => !path.endsWith('/login-keys.json'))
  const missing = needed.filter((path) => !existsSync(join(home, path)))
  if (missing.length > 0) {
    throw new UsageError(
      `this backup has no private keys: put ${missing.join(', ')} into ${home} first, with mode 0600, from where you keep them`,
    )
  }
  const { rootKey } = name === 'quorum' ? quorumLayout(home) : layoutOf(home, name)
  if (existsSync(rootKey) && rootOf(rootKey) !== root) {
    throw new UsageError(`${rootKey} is the root of another installation than the backup's`)
  }
}

function layoutOf(home: string, domain: ShareHolder) {
  return domain === 'service' ? serviceLayout(home) : userSideLayout(home)
}

async function restorePart(
  options: RestoreOptions,
  part: PartRecord,
  files: readonly FileRecord[],
): Promise<RestoredPart> {
  const { home } = options
  const { name } = part
  const restored = {
    ...{ part: name, files: files.length, kept: [], wallets: null },
    ...{ fenced: null, frozen: false, unfenced: false },
  }
  if (name === 'config') return { ...restored, kept: await putCommonFiles(options, files) }
  const directory = directoryOf(home, name)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (name === 'quorum') {
    await stopped(home, name, () => putDomainFiles(options, files))
    closeToOthers(directory)
    return restored
  }
  await stopped(home, name, () => putShareHolder(options, name, files))
  // A domain that never started has none.
  const wallets = existsSync(layoutOf(home, name).shares) ? await checkDomain(home, name) : 0
  const fencedStore =
    name === 'service' ? await stopped(home, name, () => fenceService(options, part)) : null
  const frozen = options.lost === 'all'
  if (frozen) freeze(home, name, part)
  closeToOthers(directory)
  rmSync(notePath(home, name))
  if (name === 'service') return { ...restored, wallets, fenced: fencedStore, frozen }
  const fenced = await fenceUser(options)
  return { ...restored, wallets, fenced, frozen, unfenced: fenced === null }
}

function stopped<T>(home: string, domain: DomainName, work: () => Promise<T>): Promise<T> {
  return holding(() => lockStopped(home, domain, 'backup restore'), work)
}

async function putShareHolder(
  options: RestoreOptions,
  domain: ShareHolder,
  files: readonly FileRecord[],
): Promise<void> {
  const { home } = options
  if (hasBegun(home, domain)) removeDomainFiles(home, files)
  writePrivateFile(notePath(home, domain), Buffer.from('{}'))
  await putDomainFiles(options, files)
  const layout = layoutOf(home, domain)
  const shares = join(layout.shares, 'data.mdb')
  if (existsSync(shares)) copyDurably(shares, join(layout.sharesCopy, 'data.mdb'))
  if (domain === 'service') return
  noteUnfenced(layout, 'of-backup')
  await endSessions(join(home, 'identity-provider'))
}

function notePath(home: string, domain: ShareHolder): string {
  return pendingBackupRestorePath(layoutOf(home, domain))
}

function hasBegun(home: string, part: PartName): boolean {
  return (part === 'service' || part === 'user') && existsSync(notePath(home, part))
}

async function fenceService(
  { home, userLog, progress }: RestoreOptions,
  part: PartRecord,
): Promise<FencedStore> {
  progress('service: fencing what it has forgotten')
  const { evidence } = serviceLayout(home)
  const since = userLog === null ? null : await readSinceBackup(userLog, evidence, part.began_at_ms)
  const lastKnownMs = Math.max(part.ended_at_ms, since?.lastAtMs ?? 0)
  await bringFreezeOf(home, progress)
  return fenceStore(join(home, 'service', 'store'), since, timeAfter(lastKnownMs, Date.now()))
}

/**
 * Caps are used up for the day and the month of this time. A new machine whose clock is behind would
 * use up those of a day that is over, and leave the day whole in which keys have spent already.
 * @throws UsageError
 */
function timeAfter(lastKnownMs: number, nowMs: number): number {
  const behindMs = lastKnownMs - nowMs
  if (behindMs > CLOCK_ERROR_MAX_MS) {
    throw new UsageError(
      `this machine's clock is at least ${Math.round(behindMs / 1_000)} s behind: set it right, and repeat the command`,
    )
  }
  return Math.max(lastKnownMs, nowMs)
}

/** Of a store whose journal had one. What is fenced has no journal, and the file alone says it. */
async function bringFreezeOf(home: string, progress: RestoreOptions['progress']): Promise<void> {
  const environment = openEnvironment(join(home, 'service', 'store'))
  try {
    const { freezes } = createReader(environment)
    const log = { warn: (_context: object, message: string) => progress(`service: ${message}`) }
    bringFreeze(home, 'service', carriedFreezeOf(freezes), Date.now(), log)
  } finally {
    await environment.root.close()
  }
}

/** @returns null where it is left to do, with a log that is elsewhere */
async function fenceUser(options: RestoreOptions): Promise<FencedUserSide | null> {
  const { home, serviceLogs, lost, progress } = options
  if ((await positionIn(home)) !== null) {
    // Its journal has what came after the backup: its start brings it up to now, and needs no fence.
    if (lost === 'one-domain') return null
    await bringCarriedFreeze(home, { warn: (_context, message) => progress(message) })
    await leaveJournal(home)
  }
  if (serviceLogs.length === 0 && lost === 'one-domain') return null
  progress('user: fencing what it has forgotten')
  // Where nothing outlived it is taught what its own copy has, and stays frozen.
  const logs = serviceLogs.length > 0 ? serviceLogs : [userSideLayout(home).evidence]
  return fenceUserSide(home, logs.map(evidenceIn))
}

function freeze(home: string, domain: ShareHolder, { began_at_ms }: PartRecord): void {
  const time = new Date(began_at_ms).toISOString()
  const reason = `Restored from a backup of ${time}; what came after it is lost. The operator lifts this.`
  freezeInstance(instanceFreezePath(home, domain), reason, Date.now())
}
