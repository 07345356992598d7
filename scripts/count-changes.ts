/**
 * Counts the files that a change of each kind touches: `node scripts/run.mjs count-changes` prints the table of
 * ARCHITECTURE.md, with `-- --files` also the files. A kind that has happened before is counted by
 * the files that name the last one, without comments; another kind by the files that import its
 * seam, or by a list with its reasons beside it.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../src/cli/connection.js'

const ROOT = packageRoot()

interface Change {
  readonly change: string
  readonly way: string
  /** Null when there is no bound. */
  readonly filesMax: number | null
  readonly files: readonly string[]
}

const FOLDERS = ['src', 'actors', 'scripts']
const SKIPPED =
  /^src\/(api|contracts)\/generated\/|^scripts\/(count-changes|examples)|\.d\.\w+\.ts$/
const COMMENT = /\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm

const SOURCES: ReadonlyMap<string, string> = new Map(
  FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map((path) => `${folder}/${path}`)
      .filter((path) => /\.tsx?$/.test(path) && !SKIPPED.test(path))
      .map((path) => [path, readFileSync(join(ROOT, path), 'utf8').replace(COMMENT, '')] as const),
  ),
)

function naming(what: RegExp): string[] {
  return [...SOURCES].filter(([, text]) => what.test(text)).map(([path]) => path)
}

/** @throws Error when a path is gone, so that an argument cannot outlive its files */
function those(...paths: readonly string[]): string[] {
  const gone = paths.filter((path) => !existsSync(join(ROOT, path)))
  if (gone.length > 0) throw new Error(`no longer there: ${gone.join(', ')}`)
  return [...paths]
}

const isNew = (name: string) => `${name} (new)`

const CHANGES: readonly Change[] = [
  {
    change: 'new error code',
    way: 'names `QUOTA_EXCEEDED`; two of them refuse with it',
    filesMax: null,
    files: naming(/QUOTA_EXCEEDED|quotaExceeded\b/),
  },
  {
    change: 'new agent operation',
    way: 'names `get_withdraw_quote`; MCP and OpenAPI come with the row',
    filesMax: null,
    files: naming(/get_withdraw_quote|getWithdrawQuote|get-withdraw-quote/),
  },
  {
    change: 'new webhook event type',
    way: 'names `limit.reached`',
    filesMax: null,
    files: naming(/limit\.reached/),
  },
  {
    change: 'new ERC function, screened and valued',
    way: 'names the selector of `permit`',
    filesMax: 2,
    files: naming(/d505accf/),
  },
  {
    change: 'second price source',
    way: 'names Chainlink’s adapter, and the new adapter',
    filesMax: null,
    files: [
      ...naming(/pricing\/chain(link|-feeds)\.js|\.\/chain(link|-feeds)\.js/),
      isNew('adapter'),
    ],
  },
  {
    change: 'policy field, the service’s alone',
    way: 'names `duplicateGuard`',
    filesMax: 6,
    files: naming(/duplicateGuard|duplicate_guard/),
  },
  {
    change: 'policy field in the grant',
    way: 'names `unpricedAssets`, its meaning in valuation included',
    filesMax: 6,
    files: naming(/unpricedAssets|unpriced_assets/),
  },
  {
    change: 'new condition of a policy',
    way: 'argued: its file and its line in the table, terms for the solver, a field in the console',
    filesMax: 4,
    files: [
      ...those(
        'src/policy/conditions/index.ts',
        'src/cli/policy-diff/when-terms.ts',
        'src/console/policy/more-conditions.tsx',
      ),
      isNew('src/policy/conditions/<name>.ts'),
    ],
  },
  {
    change: 'new chain',
    way: 'names Polygon or its id',
    filesMax: 3,
    files: naming(/\b137\b|Polygon/),
  },
  {
    change: 'new field of a transaction',
    way: 'names `confirmedAtMs`, including where it is set',
    filesMax: null,
    files: naming(/\bconfirmedAtMs\b|confirmed_at\b/),
  },
  {
    change: 'human approval, as a gate',
    way: 'argued: a row, its codes, its judgement, a phase of drafts that is kept, its answer',
    filesMax: 9,
    files: [
      ...those(
        'src/errors/write-refusals.ts',
        'actors/sub-wallet/core/lifecycle.ts',
        'actors/sub-wallet/core/call-at-gates.ts',
        'actors/sub-wallet/core/messages.ts',
        'actors/sub-wallet/core/decide.ts',
        'actors/account/core/evolve-drafts.ts',
        'actors/sub-wallet/record.ts',
        'src/store/key-spaces.ts',
      ),
      isNew('actors/sub-wallet/core/approval-gate.ts'),
    ],
  },
  {
    change: 'actors on another runtime',
    way: 'imports what hosts, routes or asks actors; and the new adapter',
    filesMax: null,
    files: [
      ...naming(
        /runtime\/(shard-host|mailbox|outbox|routing|actor-client)\.js|\.\/(shard-host|mailbox|outbox|routing)\.js/,
      ),
      isNew('adapter'),
    ],
  },
  {
    change: 'another engine of the journal',
    way: 'names what opens Postgres’s, or its settings; and the new adapter',
    filesMax: 3,
    files: [...naming(/openPostgresJournal|JournalSettings/), isNew('adapter')].filter(
      (path) => path !== 'src/journal/postgres-journal.ts',
    ),
  },
]

const withFiles = process.argv.includes('--files')
console.log('| change | files | at most | counted by |\n| --- | --- | --- | --- |')
for (const { change, files, filesMax, way } of CHANGES) {
  console.log(`| ${change} | ${files.length} | ${filesMax ?? ''} | ${way} |`)
  if (withFiles) for (const file of files) console.log(`    ${file}`)
}
const missed = CHANGES.filter(({ files, filesMax }) => filesMax !== null && files.length > filesMax)
for (const { change, files, filesMax } of missed) {
  console.error(`${change}: ${files.length} files, and ${filesMax} at most were wanted`)
}
process.exitCode = missed.length === 0 ? 0 : 1
