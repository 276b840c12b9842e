// Filters of runs/index.html: as typed, and stated.
(() => {
  const form = document.querySelector('[data-cb-controls]');
  const rows = [...document.querySelectorAll('tbody tr')];
  form.hidden = false;
  const apply = () => {
    const find = form.find.value.trim().toLowerCase();
    rows.forEach(row => {
      row.hidden = (find && !row.textContent.toLowerCase().includes(find))
        || (form.worst.value && row.dataset.worst !== form.worst.value)
        || (form.show.value === 'changed' && row.dataset.changed !== 'yes')
        || (form.show.value === 'newest' && row.dataset.newest !== 'yes');
    });
    form.querySelector('[data-cb-said]').textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} runs`;
  };
  form.addEventListener('input', apply);
  form.addEventListener('submit', event => event.preventDefault());
  apply();
})();
