-- Gallery: the video that an image is the preview of.
alter table gallery_item add column video text constraint gallery_item_video_check check (char_length(video) <= 256);
