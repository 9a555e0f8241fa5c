// Strips, ticks and the list of events; DATA is what `timeline` tells. Reads and sets viser's slider.
(function () {
  var D = DATA, end = D.end || 1, rows = {}, ticks = [], lines = [], at = -1;
  var strips = make(document.body, 'div'), list = make(document.body, 'details');
  strips.id = 'lia-strips';
  list.id = 'lia-list';

  function make(parent, tag, text, style) {
    var e = document.createElement(tag);
    if (text) e.textContent = text;
    if (style) e.style.cssText = style;
    parent.appendChild(e);
    return e;
  }
  function slider() { return document.querySelector('.mantine-Slider-root'); }
  function now() {
    var thumb = slider() && slider().querySelector('[role=slider]');
    return thumb ? +thumb.getAttribute('aria-valuenow') : 0;
  }
  // as if a hand had written the time into viser's field
  function seek(t) {
    var field = slider() && slider().parentElement.querySelector('input');
    if (!field) return;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, t.toFixed(4));
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
  function part(t) { return 100 * t / end + '%'; }
  function row(name) {
    var r = make(strips, 'div');
    make(r, 'span', name).title = name;
    r.onclick = function (e) {
      var box = r.getBoundingClientRect();
      seek(Math.max(0, end * (e.clientX - box.left) / box.width));
    };
    return r;
  }

  D.strips.forEach(function (strip) {
    var r = rows[strip[0]] = row(strip[0]);
    strip[1].forEach(function (x) {
      var place = 'left:' + part(x[1]) + ';width:' + part(x[2] - x[1]);
      make(r, 'b', '', place + ';background:' + D.colors[x[0]]).title = strip[0] + ' ' + D.words[x[0]];
    });
  });
  var others = D.events.some(function (e) { return !rows[e[2]]; }) ? row('events') : null;
  make(list, 'summary', D.title);
  list.open = innerWidth > 640;
  list.hidden = !D.events.length;
  var box = make(list, 'div');
  D.events.forEach(function (e, k) {
    var u = make(rows[e[2]] || others, 'u', '', 'left:' + part(e[0])), p = make(box, 'p');
    make(p, 's', e[1] + ' s');
    p.appendChild(document.createTextNode(e[3]));
    if (e[4]) u.className = 'hit';
    u.title = e[1] + ' s  ' + e[3];
    u.onclick = function (x) { x.stopPropagation(); seek(e[0]); };
    p.onclick = function () { seek(e[0]); };
    u.onmouseenter = function () { p.classList.add('on'); };
    u.onmouseleave = function () { if (k != at) p.classList.remove('on'); };
    p.onmouseenter = function () { u.classList.add('on'); };
    p.onmouseleave = function () { u.classList.remove('on'); };
    ticks.push(u);
    lines.push(p);
  });
  var cursor = make(strips, 'i');
  cursor.id = 'lia-now';

  function place() {
    var s = slider();
    if (!s) return;
    var b = s.getBoundingClientRect(), bar = s.parentElement.getBoundingClientRect();
    strips.style.left = b.left + 'px';
    strips.style.width = b.width + 'px';
    strips.style.bottom = innerHeight - bar.top + 5 + 'px';
  }
  function follow() {
    var t = now(), k = -1;
    cursor.style.left = part(t);
    while (k + 1 < D.events.length && D.events[k + 1][0] <= t + 1e-6) k++;
    if (k != at) {
      if (lines[at]) lines[at].classList.remove('on');
      at = k;
      if (lines[k]) {
        lines[k].classList.add('on');
        if (!box.matches(':hover'))
          box.scrollTop = lines[k].offsetTop - box.offsetTop - box.clientHeight / 2;
      }
    }
    requestAnimationFrame(follow);
  }
  setInterval(place, 250);
  follow();
})()
