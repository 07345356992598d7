import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

/** What the repository's Markdown names: files in code spans, targets of links, headings. */

const NO_SOURCES = new Set(['node_modules', 'dist', '.git', '.countersign'])

/** All files and folders of the repository, as paths from its root; folders end in a slash. */
export const PATHS: readonly string[] = pathsBelow('.')

export const DOCUMENTS: readonly string[] = PATHS.filter(
  (path) => path.endsWith('.md') && !path.startsWith('bench/results/'),
)

function pathsBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return NO_SOURCES.has(entry.name) ? [] : [`${path}/`, ...pathsBelow(path)]
  })
}

export interface Named {
  readonly line: number
  readonly path: string
}

/** Sources by their ending; folders and other files by where they are said to be. */
const SOURCE = /^[\w.@*{},/-]+\.(ts|mjs|cjs|sol)$/
const PLACED = /^(src|actors|test|bench|scripts|\.ci|\.\.?)\/[\w.@*{},/-]*$/
/** Written by runs. */
const OUTPUT = /^(bench\/results|\.\/\.countersign)(\/|$)/

/** Blocks are what someone typed or saw, and name no files of ours. */
function linesOf(text: string): { line: number; content: string }[] {
  let isInBlock = false
  return text.split('\n').flatMap((content, index) => {
    if (content.startsWith('```')) {
      isInBlock = !isInBlock
      return []
    }
    return isInBlock ? [] : [{ line: index + 1, content }]
  })
}

export function filesNamedIn(text: string): Named[] {
  return linesOf(text).flatMap(({ line, content }) =>
    [...content.matchAll(/`([^`]+)`/g)].flatMap(([, span = '']) =>
      span
        .split(/\s+/)
        .filter((word) => (SOURCE.test(word) || PLACED.test(word)) && !OUTPUT.test(word))
        .flatMap(withoutBraces)
        .map((path) => ({ line, path })),
    ),
  )
}

export function linksIn(text: string): Named[] {
  return linesOf(text).flatMap(({ line, content }) =>
    [...content.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, path = '']) => ({ line, path }))
      .filter(({ path }) => !/^[a-z]+:/.test(path)),
  )
}

/** `{a,b}.ts` names two files. */
function withoutBraces(path: string): string[] {
  const [whole, before, choices, after] = /^(.*?)\{([^}]*)\}(.*)$/.exec(path) ?? []
  if (whole === undefined) return [path]
  return (choices ?? '').split(',').flatMap((it) => withoutBraces(`${before}${it}${after}`))
}

/**
 * A name that begins at the root, or with a dot from its document, is a path. Any other is the last
 * part of one.
 */
export function isThere(document: string, named: string): boolean {
  const path = /^\.\.?\//.test(named) ? join(dirname(document), named) : named
  const begins = path !== named || PLACED.test(named) ? '^' : '(^|/)'
  const pattern = path.replaceAll('.', '\\.').replaceAll('*', '[^/]*').replace(/\/$/, '')
  const name = new RegExp(`${begins}${pattern}/?$`)
  return PATHS.some((it) => name.test(it))
}

/** @returns null where the link leads to what it says */
export function brokenPartOf(document: string, link: string): string | null {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? document : normalize(join(dirname(document), path))
  if (!existsSync(target)) return target
  if (anchor === undefined || anchorsOf(readFileSync(target, 'utf8')).has(anchor)) return null
  return `${target}#${anchor}`
}

export function headingsOf(text: string): string[] {
  return linesOf(text).flatMap(({ content }) => /^#+ (.+)$/.exec(content)?.[1] ?? [])
}

function anchorsOf(text: string): ReadonlySet<string> {
  return new Set(headingsOf(text).map((heading) => anchorOf(heading)))
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
