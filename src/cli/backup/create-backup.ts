import { chmodSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { VERSION } from '../../api/version.js'
import {
  type DomainName,
  quorumLayout,
  serviceLayout,
  userSideLayout,
} from '../../custody/domain-keys/layout.js'
import { refuseHalfRestored } from '../../custody/domain-keys/pending-restore.js'
import { writePrivateFile } from '../../custody/domain-keys/private-file.js'
import { domainHeldBy, lockMaintenance } from '../../custody/home-lock/domain-lock.js'
import { holding } from '../../custody/home-lock/kernel-lock.js'
import { instanceFreezePath, readInstanceFreeze } from '../../custody/instance-freeze.js'
import { rootOf, sha256OfFile } from '../../custody-tools/maintenance/backup-domain.js'
import { type LastBackup, noteBackup } from '../../disk/last-backup.js'
import { moveDurably } from '../../disk/put-file.js'
import { SCHEMA_VERSION } from '../../store/key-spaces.js'
import { UsageError } from '../exit-codes.js'
import { copyHomeFile, syncUpTo } from './copy-home-file.js'
import { beginCopy } from './half-copies.js'
import {
  type FileRecord,
  MANIFEST_FILE,
  type Manifest,
  newManifest,
  type PartRecord,
} from './manifest.js'
import {
  canRead,
  directoryOf,
  filesOf,
  type HomeFile,
  isHere,
  PARTS,
  type PartName,
} from './parts.js'

interface BackupOptions {
  readonly home: string
  /** A directory that does not exist yet. */
  readonly to: string
  /** Null backs up every part on this machine that belongs to this user. */
  readonly parts: readonly PartName[] | null
  /** Whether private keys and passwords in files are included, in clear. */
  readonly keys: 'left-out' | 'in-clear'
  /** Called with a sentence for each step. */
  readonly progress: (sentence: string) => void
}

const PRIVATE_MODE = 0o600

/**
 * Copies the parts of an instance on this machine while it runs: each store as one snapshot, and
 * the service's before the identity provider's, whose ledger and evidence then cover what the
 * service has. The copy gets its name when it is complete, so an interrupted one is not a backup.
 * @throws Error that names the file and the reason
 */
export async function createBackup(options: BackupOptions): Promise<Manifest> {
  const { to } = options
  if (existsSync(to))
    throw new UsageError(`${to} exists already: name a directory that does not exist`)
  refuseInside(options)
  const chosen = chosenParts(options)
  const partial = beginCopy(to)
  try {
    const made = await copyParts(options, chosen, partial)
    const text = `${JSON.stringify(made, null, 2)}\n`
    writePrivateFile(join(partial, MANIFEST_FILE), Buffer.from(text))
    moveDurably(partial, to)
    const bytes = made.files.reduce((total, file) => total + file.bytes, 0)
    leaveNote(options, chosen, { result: 'whole', bytes })
    return made
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    leaveNote(options, chosen, { result: 'failed', bytes: null })
    throw error
  }
}

/**
 * A backup inside its own source would be included in the next one, and both in the one after that.
 */
function refuseInside({ home, to }: BackupOptions): void {
  for (const part of PARTS.filter((one) => one !== 'config')) {
    const directory = directoryOf(home, part)
    if (!`${to}${sep}`.startsWith(`${directory}${sep}`)) continue
    throw new UsageError(
      `${to} is inside ${directory}, which it backs up: name a directory outside it`,
    )
  }
}

/** Leaves a note for the service to show. The backup does not depend on it. */
function leaveNote(
  { home, progress }: BackupOptions,
  chosen: readonly PartName[],
  note: Omit<LastBackup, 'ended_at'>,
): void {
  if (!chosen.includes('service')) return
  try {
    noteBackup(home, { ended_at: new Date().toISOString(), ...note })
  } catch {
    progress('service: the console will not list this backup, because no note could be written')
  }
}

async function copyParts(
  { home, keys, progress }: BackupOptions,
  chosen: readonly PartName[],
  to: string,
): Promise<Manifest> {
  const parts: PartRecord[] = []
  const files: FileRecord[] = []
  for (const part of chosen) {
    const found = filesOf(home, part)
    const copied = found.filter(({ isSecret }) => keys === 'in-clear' || !isSecret)
    const leftOut = found.filter((file) => !copied.includes(file)).map(({ path }) => path)
    const copy = async () => {
      if (part !== 'config') refuseHalfDone(home, part)
      const beganAtMs = Date.now()
      for (const file of copied) {
        const record = await recordOf(file, home, to)
        files.push(record)
        if (file.kind === 'lmdb') progress(`${file.path}: ${record.bytes} bytes`)
      }
      parts.push(partRecord(home, part, beganAtMs, leftOut))
    }
    if (part === 'config') await copy()
    else await holding(() => lockMaintenance(home, part, 'backup create'), copy)
    progress(`${part}: ${copied.length} files`)
  }
  return newManifest({
    version: VERSION,
    schema_version: SCHEMA_VERSION,
    made_at: new Date().toISOString(),
    parts,
    files,
  })
}

/** @throws UsageError when a part is missing, or belongs to another user */
function chosenParts({ home, parts, progress }: BackupOptions): readonly PartName[] {
  if (parts === null) {
    const here = PARTS.filter((part) => isHere(home, part))
    for (const part of here.filter((one) => !canRead(home, one))) {
      progress(`${part}: belongs to another user, who makes its own backup`)
    }
    const own = here.filter((part) => canRead(home, part))
    if (own.length === 0) throw new UsageError(`${home} has nothing that this user can back up`)
    return own
  }
  for (const part of parts) {
    if (!isHere(home, part)) throw new UsageError(`${home} has nothing of the part ${part}`)
    if (!canRead(home, part)) {
      throw new UsageError(`the part ${part} of ${home} is another user's: run this as that user`)
    }
  }
  return PARTS.filter((part) => parts.includes(part))
}

async function recordOf(file: HomeFile, home: string, to: string): Promise<FileRecord> {
  const { part, path, kind, isSecret } = file
  const target = await copyHomeFile(file, home, to)
  chmodSync(target, PRIVATE_MODE)
  // Made durable with its parent directories before the manifest lists it.
  syncUpTo(target, to)
  const [bytes, sha256] = [statSync(target).size, await sha256OfFile(target)]
  return { part, path, kind, secret: isSecret, bytes, sha256 }
}

function partRecord(
  home: string,
  part: PartName,
  beganAtMs: number,
  keysLeftOut: string[],
): PartRecord {
  const frozenPath = part === 'service' || part === 'user' ? instanceFreezePath(home, part) : null
  const bootPath = join(home, 'service', 'custody', 'boot')
  return {
    name: part,
    began_at_ms: beganAtMs,
    ended_at_ms: Date.now(),
    root: part === 'config' ? null : rootIn(home, part),
    boot:
      part === 'service' && existsSync(bootPath) ? readFileSync(bootPath).toString('hex') : null,
    held_by: part === 'config' ? null : domainHeldBy(home, part),
    frozen: frozenPath !== null && readInstanceFreeze(frozenPath) !== null,
    keys_left_out: keysLeftOut,
  }
}

function rootIn(home: string, domain: DomainName): string {
  const layouts = { service: serviceLayout, user: userSideLayout, quorum: quorumLayout }
  return rootOf(layouts[domain](home).rootKey)
}

/** @throws Error while the domain's stores are of different times */
function refuseHalfDone(home: string, domain: DomainName): void {
  if (domain !== 'quorum') {
    refuseHalfRestored(domain === 'service' ? serviceLayout(home) : userSideLayout(home))
  }
}
