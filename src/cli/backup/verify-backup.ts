import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { openEvidenceReader } from '../../custody/evidence/evidence-log.js'
import { readEvidence } from '../../custody/evidence/read-evidence.js'
import { sha256OfFile } from '../../custody-tools/maintenance/backup-domain.js'
import { openLmdb, removeTraces } from '../../disk/lmdb-file.js'
import { openSpace } from '../../store/checked-space.js'
import { isOpened, KEY_SPACES, type KeySpace, SCHEMA_VERSION } from '../../store/key-spaces.js'
import { type FileRecord, MANIFEST_FILE, type Manifest, readManifest } from './manifest.js'

/** The result for one file of a backup. */
interface CheckedFile {
  readonly part: string
  readonly path: string
  readonly bytes: number
  /** The number of intact records of a store; null for other files. */
  readonly records: number | null
  /** A sentence for each fault; empty when the file is intact. */
  readonly problems: readonly string[]
}

interface CheckedBackup {
  readonly manifest: Manifest
  readonly files: readonly CheckedFile[]
  /** The problems of the backup as a whole. */
  readonly problems: readonly string[]
}

const DATABASES_MAX = 64
const OTHERS_MASK = 0o077
/** A list of a million damaged records helps nobody. */
const PROBLEMS_MAX = 20

/**
 * Checks a backup against its manifest, and reads it completely: every record of the service's
 * store against its seal, every entry of the evidence against its hash, every page of other stores.
 * Whether shares fit is checked by a restore, which has the keys.
 * @throws Error when there is no readable manifest
 */
export async function verifyBackup(
  directory: string,
  progress: (sentence: string) => void,
): Promise<CheckedBackup> {
  const manifest = readManifest(directory)
  const files: CheckedFile[] = []
  for (const file of manifest.files) {
    const checked = await checkFile(directory, file)
    if (file.kind === 'lmdb') progress(`${file.path}: ${checked.records ?? 'no'} records`)
    files.push(checked)
  }
  return { manifest, files, problems: strangersIn(directory, manifest) }
}

async function checkFile(directory: string, file: FileRecord): Promise<CheckedFile> {
  const { part, path, bytes, sha256, kind } = file
  const full = join(directory, path)
  const found = (problems: readonly string[], records: number | null = null): CheckedFile => ({
    ...{ part, path, bytes, records, problems },
  })
  if (!existsSync(full)) return found(['is missing'])
  const { size, mode } = statSync(full)
  if (size !== bytes) return found([`has ${size} bytes, and had ${bytes}`])
  if ((await sha256OfFile(full)) !== sha256) return found(['its SHA-256 is not the manifest’s'])
  const open = (mode & OTHERS_MASK) === 0 ? [] : ['others can read it: chmod 600']
  if (kind === 'file') return found(open)
  try {
    const { records, problems } = await readStore(full)
    return found([...open, ...problems], records)
  } catch (error) {
    return found([...open, error instanceof Error ? error.message : String(error)])
  }
}

interface ReadStore {
  readonly records: number
  readonly problems: readonly string[]
}

async function readStore(path: string): Promise<ReadStore> {
  const isDirectory = path.endsWith('/data.mdb')
  try {
    if (path.endsWith('/service/store/data.mdb')) return await readServiceStore(path)
    if (path.endsWith('/evidence/data.mdb')) return await readEvidenceAt(dirname(path))
    return await readPages(path, isDirectory)
  } finally {
    removeTraces(path)
  }
}

async function readServiceStore(path: string): Promise<ReadStore> {
  const options = { path: dirname(path), maxDbs: DATABASES_MAX, readOnly: true }
  const root = openLmdb(options)
  const problems: string[] = []
  let records = 0
  const noteDamage = (damage: Error) => {
    if (problems.length < PROBLEMS_MAX) problems.push(damage.message)
  }
  try {
    const there = new Set(root.getKeys())
    for (const space of Object.keys(KEY_SPACES) as KeySpace[]) {
      // An older build did not have this key space.
      if (!there.has(KEY_SPACES[space])) continue
      const opened = openSpace(root, { file: path, space, noteDamage })
      if (space === 'meta' && !isOpened(opened.get('schema_version'))) {
        return {
          records,
          problems: [`its schema is not ${SCHEMA_VERSION}: verify it with the build that made it`],
        }
      }
      for (const _entry of opened.getSound({})) records++
    }
  } finally {
    await root.close()
  }
  return { records, problems }
}

async function readEvidenceAt(path: string): Promise<ReadStore> {
  const log = openEvidenceReader(path)
  try {
    const { entries, problems } = readEvidence('evidence', log.entries())
    return { records: entries, problems: problems.slice(0, PROBLEMS_MAX) }
  } finally {
    await log.close()
  }
}

async function readPages(path: string, isDirectory: boolean): Promise<ReadStore> {
  const root = openLmdb({
    path: isDirectory ? dirname(path) : path,
    noSubdir: !isDirectory,
    maxDbs: DATABASES_MAX,
    readOnly: true,
  })
  let records = 0
  try {
    for (const name of [...root.getKeys()]) {
      const database = root.openDB<Buffer, string>({ name: String(name), encoding: 'binary' })
      for (const _entry of database.getRange({})) records++
    }
  } finally {
    await root.close()
  }
  return { records, problems: [] }
}

/**
 * Returns files that the manifest does not name: they do not belong to this backup, and are not
 * restored.
 */
function strangersIn(directory: string, { files }: Manifest): string[] {
  const named = new Set([MANIFEST_FILE, ...files.map(({ path }) => path)])
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !named.has(path))
    .map((path) => `${path} does not belong to this backup`)
}
