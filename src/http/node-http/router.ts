import type { Serve } from '../app.js'

/** Finds the route of a method and a path by the rules of `App`. Owns the routes of one app. */

interface Match {
  readonly serve: Serve
  readonly parameters: readonly string[]
}

interface Pattern {
  readonly segments: readonly string[]
  /** Whether any rest may follow. */
  readonly isOpen: boolean
  readonly serve: Serve
}

interface Routes {
  readonly exact: Map<string, Match>
  /** Patterns with parameters or an open end, more literal ones first. */
  patterns: Pattern[]
}

export interface Router {
  /** @param method in capitals, or `ANY` */
  add(method: string, path: string, serve: Serve): void
  /** @param path without query */
  find(method: string, path: string): Match | null
}

const NO_PARAMETERS: readonly string[] = []

export function createRouter(): Router {
  const byMethod = new Map<string, Routes>()
  return {
    add(method, path, serve) {
      const routes = byMethod.get(method) ?? { exact: new Map<string, Match>(), patterns: [] }
      byMethod.set(method, routes)
      const segments = segmentsOf(path)
      const isOpen = segments.at(-1) === '*'
      if (!isOpen && !segments.some(isParameter)) {
        routes.exact.set(path, { serve, parameters: NO_PARAMETERS })
        return
      }
      routes.patterns.push({ segments: isOpen ? segments.slice(0, -1) : segments, isOpen, serve })
      routes.patterns.sort(byLiteralness)
    },
    find(method, path) {
      return findAmong(byMethod.get(method), path) ?? findAmong(byMethod.get('ANY'), path)
    },
  }
}

function findAmong(routes: Routes | undefined, path: string): Match | null {
  if (routes === undefined) return null
  const exact = routes.exact.get(path)
  if (exact !== undefined) return exact
  const given = segmentsOf(path)
  for (const pattern of routes.patterns) {
    const parameters = parametersOf(pattern, given)
    if (parameters !== null) return { serve: pattern.serve, parameters }
  }
  return null
}

/** Null if the pattern does not match. A parameter is never empty. */
function parametersOf(
  { segments, isOpen }: Pattern,
  given: readonly string[],
): readonly string[] | null {
  if (isOpen ? given.length <= segments.length : given.length !== segments.length) return null
  const parameters: string[] = []
  for (const [i, segment] of segments.entries()) {
    const value = given[i] ?? ''
    if (isParameter(segment)) {
      if (value === '') return null
      parameters.push(value)
    } else if (segment !== value) return null
  }
  return parameters
}

function segmentsOf(path: string): string[] {
  return path.split('/').slice(1)
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':')
}

function byLiteralness(a: Pattern, b: Pattern): number {
  const [rankA, rankB] = [rankOf(a), rankOf(b)]
  return rankA < rankB ? -1 : rankA > rankB ? 1 : 0
}

/** One digit per segment, so that the first difference decides. */
function rankOf({ segments, isOpen }: Pattern): string {
  return (
    segments.map((segment) => (isParameter(segment) ? '1' : '0')).join('') + (isOpen ? '2' : '')
  )
}
