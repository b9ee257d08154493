// virtual.js - a list of rows of one height of which only those in sight exist. It scrolls by itself (height) or with the page.
import { Component } from 'preact';
import { html } from '../html.js';

const SPARE_ROWS = 6;

// Virtual({count, rowHeight, height?, row(i) => vnode, onScroll?(top), ...attributes})
export class Virtual extends Component {
	constructor()
	{
		super();
		this.state = { first: 0, last: 30 };
		this.look = this.look.bind(this);
		this.box = null;
	}

	componentDidMount()
	{
		if (this.props.ref)
			this.props.ref.current = this; // a component gets its ref as a property
		this.target = this.props.height === undefined ? window : this.box;
		this.target.addEventListener('scroll', this.look, { passive: true });
		addEventListener('resize', this.look);
		this.look();
	}

	componentWillUnmount()
	{
		this.target.removeEventListener('scroll', this.look);
		removeEventListener('resize', this.look);
	}

	componentDidUpdate(before)
	{
		if (before.height !== this.props.height || before.count !== this.props.count)
			this.look();
	}

	look()
	{
		const { rowHeight, height, count, onScroll } = this.props;
		const top = height === undefined ? -this.box.getBoundingClientRect().top : this.box.scrollTop;
		const seen = height === undefined ? innerHeight : height;
		const first = Math.max(0, Math.floor(top / rowHeight) - SPARE_ROWS);
		const last = Math.min(count, Math.ceil((top + seen) / rowHeight) + SPARE_ROWS);

		onScroll?.(top);
		if (first !== this.state.first || last !== this.state.last)
			this.setState({ first, last });
	}

	// scrollTo(i): brings a row into sight.
	scrollTo(i)
	{
		const { rowHeight, height } = this.props, at = i * rowHeight;

		if (height === undefined) {
			const top = this.box.getBoundingClientRect().top + at;

			if (top < 60 || top + rowHeight > innerHeight - 70)
				scrollBy(0, top < 60 ? top - 60 : top + rowHeight - innerHeight + 70);
		} else if (at < this.box.scrollTop) {
			this.box.scrollTop = at;
		} else if (at + rowHeight > this.box.scrollTop + height) {
			this.box.scrollTop = at + rowHeight - height;
		}
		this.look();
	}

	render({ count, rowHeight, height, row, onScroll, ref: _, class: name, ...more }, { first, last })
	{
		const rows = [];

		for (let i = first; i < Math.min(last, count); i++)
			rows.push(row(i, i * rowHeight));
		return html`<div ref=${(e) => { this.box = e; }} class=${`virtual ${name ?? ''}`} ...${more}
			style=${height === undefined ? {} : { height: `${height}px`, overflowY: count * rowHeight > height ? 'auto' : 'hidden' }}>
			<div class="virtual-all" role="presentation" style=${{ height: `${count * rowHeight}px` }}>${rows}</div></div>`;
	}
}
