/**
 * Git's three markers, as Git writes them and as a formatter of Markdown rewrites them: seven `>` become
 * seven nested quotes, and any of them a cell of a table.
 */
const MARKERS: readonly RegExp[] = [
  /^[\s|]*<{7}(\s|$)/,
  /^[\s|]*\|{7}(\s|$)/,
  /^[\s|]*={7}[\s|]*$/,
  /^[\s|]*(> ?){7}(?!>)/,
]

/** The numbers of the lines that hold a marker of a merge conflict, counted from 1. */
export function conflictMarkerLines(text: string): readonly number[] {
  return text
    .split(/\r?\n/)
    .flatMap((line, index) => (MARKERS.some((marker) => marker.test(line)) ? [index + 1] : []))
}
