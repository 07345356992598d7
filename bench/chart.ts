/** One bar: a figure next to the mark it should reach, if there is one. */
export interface Bar {
  readonly label: string
  readonly value: number
  /** As it is written next to the bar. */
  readonly text: string
  readonly mark?: number
}

export interface BarGroup {
  readonly title: string
  readonly bars: readonly Bar[]
}

const WIDTH = 760
const LABEL_WIDTH = 250
const BAR_WIDTH = 380
const ROW = 24
const TITLE_ROW = 40

/** An SVG of horizontal bars; each group has a scale of its own. */
export function barChart(groups: readonly BarGroup[]): string {
  const parts: string[] = []
  let y = 8
  for (const { title, bars } of groups) {
    const longest = Math.max(...bars.map(({ value, mark }) => Math.max(value, mark ?? 0)), 1e-9)
    parts.push(`<text x="8" y="${y + 22}" class="title">${escaped(title)}</text>`)
    y += TITLE_ROW
    for (const { label, value, text, mark } of bars) {
      const length = (Math.max(0, value) / longest) * BAR_WIDTH
      parts.push(
        `<text x="8" y="${y + 15}">${escaped(label)}</text>`,
        `<rect x="${LABEL_WIDTH}" y="${y + 3}" width="${length.toFixed(1)}" height="${ROW - 8}"/>`,
        `<text x="${LABEL_WIDTH + length + 6}" y="${y + 15}">${escaped(text)}</text>`,
      )
      if (mark !== undefined) {
        const x = (LABEL_WIDTH + (mark / longest) * BAR_WIDTH).toFixed(1)
        parts.push(`<line x1="${x}" x2="${x}" y1="${y}" y2="${y + ROW - 2}"/>`)
      }
      y += ROW
    }
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y + 8}" viewBox="0 0 ${WIDTH} ${y + 8}">`,
    '<style>text{font:13px sans-serif;fill:#222}.title{font-weight:bold;font-size:15px}',
    'rect{fill:#4a7fb5}line{stroke:#c33;stroke-width:2}svg{background:#fff}</style>',
    ...parts,
    '</svg>\n',
  ].join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
