// sparkline.js - fifteen minutes of calls as a line: own scale from 0, no axis; a missing value is a gap.
import { html, memo } from '../html.js';

// Points of values; null ends a stroke.
function strokes(values, width, height, most)
{
	const step = width / Math.max(1, values.length - 1);
	let line = '', area = '', begin = null;

	const end = (i) => {
		if (begin !== null)
			area += `L${((i - 1) * step).toFixed(1)} ${height}L${begin.toFixed(1)} ${height}Z`;
		begin = null;
	};

	values.forEach((v, i) => {
		if (v === null || v === undefined) {
			end(i);
			return;
		}
		const at = `${begin === null ? 'M' : 'L'}${(i * step).toFixed(1)} ${(height - 1 - (v / most) * (height - 3)).toFixed(1)}`;

		line += at;
		area += at;
		if (begin === null)
			begin = i * step;
	});
	end(values.length);
	return { line, area };
}

// Sparkline({values, width, height, was}): was: the hub is not there; a dotted gap ends the line.
export const Sparkline = memo(({ values, width = 76, height = 20, was }) => {
	const all = values ?? [], most = Math.max(1, ...all);
	const inner = was ? width - 10 : width;
	const { line, area } = strokes(all, inner, height, most);

	return html`<svg class="spark" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} aria-hidden="true">
		<path class="spark-area" d=${area} /><path class="spark-line" d=${line} />
		${was ? html`<path class="spark-gap" d=${`M${inner + 2} ${height - 2}h8`} />` : null}</svg>`;
});
