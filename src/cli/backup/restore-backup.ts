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
  /** Null restores every part of the backup. */
  readonly parts: readonly PartName[] | null
  /**
   * The other domain's evidence, if it survived, or a later copy of it. The service is fenced by
   * the identity provider's evidence, and vice versa.
   */
  readonly serviceLogs: readonly string[]
  readonly userLog: string | null
  /**
   * `all` means that no log from after the backup survived, so nobody knows what happened since.
   */
  readonly lost: 'one-domain' | 'all'
  readonly progress: (sentence: string) => void
}

interface RestoredPart {
  readonly part: PartName
  readonly files: number
  /** The home's files that differ from the backup's and were kept. */
  readonly kept: readonly string[]
  /** The number of wallets whose shares fit; null for parts without shares. */
  readonly wallets: number | null
  readonly fenced: FencedStore | FencedUserSide | null
  /** True when it signs nothing until the operator lifts the freeze. */
  readonly frozen: boolean
  /** True when it does not start before `custody fence`. */
  readonly unfenced: boolean
}

type ShareHolder = 'service' | 'user'

/**
 * Restores a backup into an empty home, each part as its own user and with its process stopped. A
 * marker file keeps the domain from starting until everything is there, its shares fit and its
 * stores are fenced. An interrupted part is restored again by the same command; complete parts are
 * not repeated.
 * @throws Error that names the file, the reason and what to do
 */
export async function restoreBackup(options: RestoreOptions): Promise<readonly RestoredPart[]> {
  const { home, from, progress } = options
  const manifest = readManifest(from)
  if (!isOpened(manifest.schema_version)) {
    throw new Error(
      `${from} was made by version ${manifest.version} with schema ${manifest.schema_version}, but this build reads only ${SCHEMA_VERSION}: restore it with that version`,
    )
  }
  const parts = chosenParts(options, manifest)
  refuseUnfitLogs(options)
  // Checks everything that can be checked before anything is written.
  for (const part of parts) {
    requireOwnUser(home, part.name, ', or pass --part with your own parts')
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

/** The common part comes first, because fences read the registry. */
function chosenParts({ from, parts }: RestoreOptions, manifest: Manifest): PartRecord[] {
  for (const part of parts ?? []) {
    if (!manifest.parts.some(({ name }) => name === part)) {
      throw new UsageError(`${from} has no part ${part}`)
    }
  }
  const order: readonly PartName[] = ['config', ...PARTS.filter((part) => part !== 'config')]
  return order
    .filter((part) => parts === null || parts.includes(part))
    .flatMap((part) => manifest.parts.filter(({ name }) => name === part))
}

/** A log is required, and one of the backup's own time does not cover what came after. */
function refuseUnfitLogs({ from, serviceLogs, userLog }: RestoreOptions): void {
  const inside = `${realpathSync(from)}${sep}`
  for (const log of [...serviceLogs, ...(userLog === null ? [] : [userLog])]) {
    if (!existsSync(log)) throw new UsageError(`${log} does not exist`)
    if (`${realpathSync(log)}${sep}`.startsWith(inside)) {
      throw new UsageError(
        `${log} belongs to the backup itself and has nothing from after it: if no later log survived, pass --nothing-outlived`,
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
    `${join(home, there.path)} exists, but a restore needs an empty home: if this part is already restored, pass --part with the others. Otherwise move ${directoryOf(home, part)} aside, or restore only one domain's custody with countersign custody restore`,
  )
}

/** @throws UsageError that names the missing private keys */
function requireKeys(home: string, { name, root, keys_left_out }: PartRecord): void {
  if (name === 'config') return
  // The login's keys are made again: everyone signs in again.
  const needed = keys_left_out.filter((path) => !path.endsWith('/login-keys.json'))
  const missing = needed.filter((path) => !existsSync(join(home, path)))
  if (missing.length > 0) {
    throw new UsageError(
      `this backup has no private keys: put ${missing.join(', ')} into ${home} first, with mode 0600, from where you keep them`,
    )
  }
  const { rootKey } = name === 'quorum' ? quorumLayout(home) : layoutOf(home, name)
  if (existsSync(rootKey) && rootOf(rootKey) !== root) {
    throw new UsageError(`${rootKey} belongs to another installation than the backup`)
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
  // A domain that never started has no shares.
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
  progress('service: fencing what the backup does not know')
  const { evidence } = serviceLayout(home)
  const since = userLog === null ? null : await readSinceBackup(userLog, evidence, part.began_at_ms)
  const lastKnownMs = Math.max(part.ended_at_ms, since?.lastAtMs ?? 0)
  await bringFreezeOf(home, progress)
  return fenceStore(join(home, 'service', 'store'), since, timeAfter(lastKnownMs, Date.now()))
}

/**
 * Returns the time whose day and month the caps count as used up. A machine whose clock is behind
 * would mark a past day, and leave the present day's caps unused although keys have already spent.
 * @throws UsageError
 */
function timeAfter(lastKnownMs: number, nowMs: number): number {
  const behindMs = lastKnownMs - nowMs
  if (behindMs > CLOCK_ERROR_MAX_MS) {
    throw new UsageError(
      `this machine's clock is at least ${Math.round(behindMs / 1_000)} s behind: set it right, then run the command again`,
    )
  }
  return Math.max(lastKnownMs, nowMs)
}

/**
 * Takes the freeze from a store that had a journal. After a fence there is no journal, so the file
 * decides.
 */
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

/** @returns null when the fence remains to be done, with a log on another machine */
async function fenceUser(options: RestoreOptions): Promise<FencedUserSide | null> {
  const { home, serviceLogs, lost, progress } = options
  if ((await positionIn(home)) !== null) {
    // Its journal has everything since the backup: its start catches up and needs no fence.
    if (lost === 'one-domain') return null
    await bringCarriedFreeze(home, { warn: (_context, message) => progress(message) })
    await leaveJournal(home)
  }
  if (serviceLogs.length === 0 && lost === 'one-domain') return null
  progress('user: fencing what the backup does not know')
  // Without a surviving log, it learns only what its own copy has, and stays frozen.
  const logs = serviceLogs.length > 0 ? serviceLogs : [userSideLayout(home).evidence]
  return fenceUserSide(home, logs.map(evidenceIn))
}

function freeze(home: string, domain: ShareHolder, { began_at_ms }: PartRecord): void {
  const time = new Date(began_at_ms).toISOString()
  const reason = `Restored from a backup of ${time}; everything since is lost. Only the operator can lift this freeze.`
  freezeInstance(instanceFreezePath(home, domain), reason, Date.now())
}
